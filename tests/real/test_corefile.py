"""Our reading of Corefiles against CoreDNS's own."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from pilotage.checks.coredns.model import Corefile, Entry
from pilotage.checks.coredns.parse import parse
from pilotage.checks.objects import SourceFile
from pilotage.checks.readers.assemble import assemble
from pilotage.checks.readers.files import read_paths
from pilotage.checks.texts import text_of_file
from rig import corefile_parser

pytestmark = pytest.mark.real

GOLDEN = Path(__file__).parents[1] / "golden" / "checks"
LINES = [
    "errors",
    "cache 30 {\n        serve_stale\n    }",
    "forward . 1.1.1.1 tls://9.9.9.9 {\n        max_concurrent 1\n    }",
    'log . "two words"',
    'log "a \\"quoted\\" word" \\x',
    'template "over\ntwo lines" b',
    "health { lameduck 5s }",
    "half#hidden seen",
    "# hidden } {",
    "hosts {\n        10.0.0.1 a # hidden }\n        deep {\n            b\n        }\n        fallthrough\n    }",
    '"quoted" x',
    'a"b c"d',
    "import snip",
    "import empty",
    'x "" y',
    "bind é 169.254.20.10",
]
HEADS = [".:53", "acme.dev a.b", "x,\ny", "dns://a.b.:5353,tls://c", "10.0.0.0/8", ". # hidden"]
SNIPPETS = "(snip) {\n    log . {combined}\n    import empty\n    ready\n}\n(empty) {\n}\n"
BROKEN = [
    ". {\n    errors\n",
    ". {\n    import a b\n}\n",
    ". {\n    errors {\n        a\n",
    ". {\n    import\n}\n",
    "(snip) {\n    errors\n",
    ". {\n    import nowhere.conf\n}\n. {",
]


def corefile(text: str) -> Corefile:
    return parse(text_of_file(SourceFile("Corefile", text)))


def flat(entry: Entry) -> list[str]:
    inner = [word for one in entry.items for word in flat(one)]
    return [entry.name, *entry.args, *(["{", *inner, "}"] if inner else [])]


def ours(found: Corefile) -> list[tuple[list[str], dict[str, list[str]]]]:
    blocks = []
    for block in found.blocks:
        plugins: dict[str, list[str]] = {}
        for one in block.plugins:
            plugins.setdefault(one.name, []).extend(flat(one))
        blocks.append((list(block.keys), plugins))
    return blocks


def text_of(seed: int) -> str:
    pick = random.Random(seed)
    text = SNIPPETS if pick.random() < 0.7 else "# nothing to import\n(snip) {\n}\n(empty) {\n}\n"
    for _ in range(pick.randint(1, 3)):
        head = pick.choice(HEADS)
        text += head.replace(" #", " {  #") + ("\n" if " #" in head else " {\n")
        text += "".join(f"    {pick.choice(LINES)}\n" for _ in range(pick.randint(0, 6)))
        text += pick.choice(["}\n", "}\n\n", "} # hidden\n", "}"]) + "\n"
    return text


def test_plugins_are_divided_as_coredns_divides_them(tmp_path: Path) -> None:
    texts = [text_of(seed) for seed in range(400)]
    files = [tmp_path / str(number) for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text, encoding="utf-8")
    for text, theirs in zip(texts, corefile_parser.read(files), strict=True):
        assert not theirs["error"], text
        found = corefile(text)
        assert not found.problems, text
        expected = [
            (
                block["keys"],
                {name: [word["text"] for word in words] for name, words in (block["plugins"] or {}).items()},
            )
            for block in theirs["blocks"] or []
        ]
        assert ours(found) == expected, text


def test_what_coredns_refuses_we_tell(tmp_path: Path) -> None:
    files = [tmp_path / str(number) for number in range(len(BROKEN))]
    for file, text in zip(files, BROKEN, strict=True):
        file.write_text(text, encoding="utf-8")
    for text, theirs in zip(BROKEN, corefile_parser.read(files), strict=True):
        assert theirs["error"], text
        assert corefile(text).problems, text


def test_our_fixtures_are_accepted(tmp_path: Path) -> None:
    texts = []
    for case in sorted(GOLDEN.glob("coredns-*/*.yaml")) + sorted(GOLDEN.glob("coredns-*/*.corefile")):
        scene = assemble(read_paths([str(case)]))
        texts += [
            one.text.content for one in scene.configs(Corefile) if "import custom" not in one.text.content
        ]
    assert len(texts) > 40
    files = [tmp_path / str(number) for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text, encoding="utf-8")
    assert [one["error"] for one in corefile_parser.read(files)] == [""] * len(files)
