"""Corefiles as CoreDNS reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pilotage.checks.coredns.model import Corefile, zone
from pilotage.checks.coredns.parse import looks_like_corefile, parse
from pilotage.checks.objects import SourceFile
from pilotage.checks.readers.files import read_paths
from pilotage.checks.texts import text_of_file

WHOLE = """\
(base) {
    errors # all of them
    cache 30
}

.:53, acme.dev {
    import base
    health {
        lameduck 5s
    }
    hosts "/etc/my hosts" {
        10.0.0.1 a.acme.dev
        fallthrough
    }
    log . "{remote} \\"{name}\\""
    forward . 10.0.0.1 10.0.0.2 {
        max_concurrent 1000
    }
}

tls://inner.acme.dev:853 {
    whoami
}
"""


def corefile(text: str) -> Corefile:
    return parse(text_of_file(SourceFile("Corefile", text)))


def test_blocks_plugins_and_properties_have_places() -> None:
    found = corefile(WHOLE)
    assert not found.problems
    first, second = found.blocks
    assert first.keys == (".:53", "acme.dev")
    assert [one.name for one in first.plugins] == ["errors", "cache", "health", "hosts", "log", "forward"]
    assert [str(first.place(path)) for path in ((), ("health", "lameduck"), ("forward",), ("loop",))] == [
        "Corefile:6:1",
        "Corefile:9:9",
        "Corefile:16:5",
        "Corefile:6:1",
    ]
    assert second.zones == ("inner.acme.dev",)
    assert second.key == "Corefile tls://inner.acme.dev:853"


def test_words_are_read_as_coredns_reads_them() -> None:
    (first, _) = corefile(WHOLE).blocks
    cache, hosts, log = first.first("cache"), first.first("hosts"), first.first("log")
    assert cache is not None
    assert hosts is not None
    assert log is not None
    assert cache.args == ("30",)
    assert hosts.args == ("/etc/my hosts",)
    assert [one.name for one in hosts.items] == ["10.0.0.1", "fallthrough"]
    assert log.args == (".", '{remote} "{name}"')


def test_a_single_block_needs_no_braces() -> None:
    (block,) = corefile("acme.dev\nerrors\nforward . 10.0.0.1\n").blocks
    assert [one.name for one in block.plugins] == ["errors", "forward"]


def test_an_import_that_cannot_be_followed_leaves_the_block_open() -> None:
    found = corefile(". {\n import custom/*.override\n errors\n}\nimport custom/*.server\n")
    assert found.blocks[0].open
    assert found.open
    assert not found.problems


@pytest.mark.parametrize(
    ("text", "place", "part"),
    [
        (". {\n errors\n", "Corefile:1:1", "never closed"),
        ("}\n", "Corefile:1:1", "unexpected `}`"),
        ("{\n}\n", "Corefile:1:1", "without a zone"),
        (". {\n import\n}\n", "Corefile:2:2", "import names nothing"),
        ("(x) {\nimport x\nimport x\n}\n. {\nimport x\n}\n", "Corefile:3:8", "without end"),
        (". {\n forward . {{ .Values.dns }}\n}\n", "Corefile:2", "unrendered template"),
        (". {\n" + "a {\n" * 40, "Corefile:22:1", "levels deep"),
    ],
)
def test_what_is_broken_is_told_with_its_place(text: str, place: str, part: str) -> None:
    told = [(str(one.place), one.message) for one in corefile(text).problems]
    assert any(at == place and part in message for at, message in told), told


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (".:53", "."),
        (".", "."),
        ("dns://cluster.local.:5353", "cluster.local"),
        ("A.b", "a.b"),
        ("fd00::/8", "fd00::/8"),
    ],
)
def test_the_zone_of_a_key(key: str, expected: str) -> None:
    assert zone(key) == expected


def test_a_corefile_is_told_by_its_look() -> None:
    assert looks_like_corefile(WHOLE)
    assert not looks_like_corefile("server {\n  listen 80;\n}\n")
    assert not looks_like_corefile("{\n  x\n}\n")


def test_imports_of_a_file_are_followed_in_its_folder(tmp_path: Path) -> None:
    (tmp_path / "custom").mkdir()
    (tmp_path / "Corefile").write_text(
        ". {\n import custom/*.override\n import ../out\n}\n", encoding="utf-8"
    )
    (tmp_path / "custom" / "a.override").write_text("errors\nready\n", encoding="utf-8")
    (found,) = read_paths([str(tmp_path / "Corefile")]).configs
    assert isinstance(found, Corefile)
    block = found.blocks[0]
    assert [one.name for one in block.plugins] == ["errors", "ready"]
    assert block.place(("ready",)).file == str(tmp_path / "custom" / "a.override")
    assert block.open


def test_an_import_that_leads_nowhere_is_told_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "Corefile").write_text(
        ". {\n import gone.conf\n import ../out\n import /etc/out\n import none/*.x\n errors\n}\n",
        encoding="utf-8",
    )
    told = [
        (one.place.line, one.place.column, one.message, one.grave)
        for one in read_paths([str(tmp_path)]).problems
    ]
    assert [(line, column, grave) for line, column, _, grave in told] == [
        (2, 9, True),
        (3, 9, False),
        (4, 9, False),
    ]
    assert told[0][2] == "`import gone.conf` names a file that is not here, so what it sets was not read"
