"""Writes docs/reference, and what is shipped beside the code that can be made from it: schemas, vectors.

    python docs/generate.py           writes what differs
    python docs/generate.py --check   writes nothing; exit code 1 when a file differs

Nothing in the output depends on the machine, its settings or the time.
"""
# ruff: noqa: E501, INP001, T201 - a script: no package, it tells what it did, and it holds sentences

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import click
import numpy as np
import yaml

from pilotage.checks.reports.schema import FILE as CHECK_SCHEMA_FILE
from pilotage.checks.reports.schema import report_schema
from pilotage.checks.reports.schema import schema_text as check_schema_text
from pilotage.cli.lazy import LazyGroup
from pilotage.cli.main import exit_code, pilotage, run
from pilotage.core.errors import all_errors
from pilotage.core.settings import FILE, PREFIX, Setting, known_settings
from pilotage.library.bundled import bundled_candidates, bundled_files
from pilotage.library.embedding import load_embedder
from pilotage.library.entry import passages
from pilotage.library.exporters.table import EXPORTERS
from pilotage.library.importers.detect import IMPORTERS
from pilotage.library.record import read_record
from pilotage.library.schema.generate import SCHEMA_FILE, record_schema
from pilotage.library.shipped_vectors import WithShipped
from pilotage.library.terms import COMPILED, FACETS, KINDS, Vocabulary, load_vocabulary
from pilotage.library.vocabulary.compiling import compiled

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"
SCHEMA = ROOT / "src" / "pilotage" / "library" / "schema" / SCHEMA_FILE
VOCABULARY = ROOT / "src" / "pilotage" / "library" / "vocabulary" / COMPILED
MODEL = "use-multilingual-3"
VECTORS = ROOT / "src" / "pilotage" / "library" / "records" / f"{MODEL}.npy"
CHECK_SCHEMA = ROOT / "src" / "pilotage" / "checks" / "reports" / CHECK_SCHEMA_FILE
NOTE = "<!-- Made by docs/generate.py from the code; `make docs` writes it again. -->\n"
WIDTH = 100


def page(title: str, *parts: str) -> str:
    """A Markdown page."""
    return "\n\n".join([f"# {title}\n\n{NOTE.strip()}", *(part.strip("\n") for part in parts if part)]) + "\n"


def table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


# The command line


def commands(group: click.Group, parent: click.Context | None = None) -> Iterator[tuple[click.Context, str]]:
    """Every command with its context, groups before their members, and the short help of its list."""
    context = _context(group, parent, group.name or "")
    if parent is None:
        yield context, ""
    assert isinstance(group, LazyGroup)  # noqa: S101 - all groups of ours are
    for name, (_, short) in group.commands_at.items():
        command = group.get_command(context, name)
        assert command is not None  # noqa: S101 - the group names it
        yield _context(command, context, name), short
        if isinstance(command, click.Group):
            yield from commands(command, context)


def _context(command: click.Command, parent: click.Context | None, name: str) -> click.Context:
    # A width of its own, so that no terminal decides how the page is wrapped.
    settings = dict(command.context_settings)
    settings |= {"info_name": name, "terminal_width": WIDTH, "max_content_width": WIDTH}
    return click.Context(command, parent=parent, **settings)


def cli_page() -> str:
    """Every command with its help."""
    parts = [
        (
            "Every command of `pilotage`, as its `--help` says it. Results go to standard output, everything else"
            " to standard error. The forms of `--output json` stand in [output](output.md), errors in"
            " [errors](errors.md)."
        ),
        (
            'Shell completion: `eval "$(_PILOTAGE_COMPLETE=bash_source pilotage)"` (or `zsh_source`,'
            " `fish_source`) in the start file of the shell."
        ),
    ]
    for context, _ in commands(pilotage):
        parts += [f"## {context.command_path}", f"```text\n{context.get_help()}\n```"]
    return page("Command line", *parts)


# Settings and errors


def settings_page() -> str:
    """Every setting."""
    rows = [_setting(one) for one in known_settings().values()]
    return page(
        "Settings",
        f"A flag beats a variable, a variable beats `{FILE}` in the working directory, the file beats the"
        " default. An unknown key or variable is an error, so that a typing mistake cannot pass unseen.",
        table(("TOML key", "variable", "type", "default", "meaning"), rows),
        "The table `[checks]` of the same file holds the house rules: what a team has decided about findings, and"
        " its own checks ([live with findings](../howto/live-with-findings.md)). It is looked for from the working"
        " directory upwards.",
        "Lists and tables in a variable are written as JSON: `PILOTAGE_LIBRARY__REDACT_WORDS='[\"Falcon\"]'`.",
        f"Example of `{FILE}`:",
        '```toml\nlang = "ko"\n\n[store]\nurl = "postgresql://localhost/pilotage"\n\n[library]\n'
        'redact_words = ["Falcon"]\n```',
    )


def _setting(one: Setting) -> tuple[str, ...]:
    # The one default that differs from machine to machine.
    default = "`library.db` in the user's data folder" if one.key == "store.url" else _shown(one.default)
    kind = "list of str" if one.kind.startswith("tuple") else one.kind
    return f"`{one.key}`", f"`{one.variable}`", kind, default, one.meaning


def _shown(value: object) -> str:
    if value in ("", (), None):
        return "empty"
    return f"`{json.dumps(value, default=str)}`"


def errors_page() -> str:
    """Every error."""
    rows = []
    for error in all_errors():
        parent = error.__mro__[1]
        above = f"`{parent.code}`" if parent in all_errors() else ""  # type: ignore[attr-defined]
        rows.append((f"`{error.code}`", error.summary, above, str(exit_code(error("")))))
    return page(
        "Errors",
        "Codes are stable: scripts may rest on them. With `--output json` an error is one line of JSON on standard"
        ' error: `{"error": {"code", "message", "hint"}}`. Two codes stand outside of the tree: `usage` (a wrong'
        " option or argument, exit code 2) and `interrupted` (Ctrl-C, exit code 130). `bug` (exit code 3) is a"
        " fault of Pilotage: please report it.",
        table(("code", "meaning", "is a kind of", "exit code"), rows),
        "Exit codes: 0 done; 1 findings (`validate`, `verify`); 2 wrong use or wrong input; 3 something outside"
        " or the store failed; 4 stopped for safety.",
    )


# Record, vocabulary, formats


def record_page() -> str:
    """Every key of a record."""
    schema = record_schema()
    parts = [
        "One incident as a JSON object, or as YAML with the same keys. Only `id` must be there. Unknown keys of"
        " incident JSON are kept; in YAML they are refused, because there they are typing mistakes. The JSON"
        " Schema of a record is shipped as `pilotage/library/schema/" + SCHEMA_FILE + "` and with"
        " `pilotage library export --format zip`. How a record is written and judged:"
        " [editorial](../explanation/editorial.md).",
        table(("key", "type", "meaning"), _keys(schema)),
    ]
    for name, part in schema["$defs"].items():
        if "properties" in part:
            parts += [
                f"## {name}",
                part.get("description", ""),
                table(("key", "type", "meaning"), _keys(part)),
            ]
    return page("Record", *parts)


def _keys(part: dict[str, Any]) -> list[tuple[str, ...]]:
    needed = part.get("required", [])
    return [
        (f"`{key}`" + (" (required)" if key in needed else ""), _type(value), value["description"])
        for key, value in part["properties"].items()
    ]


def _type(value: dict[str, Any]) -> str:
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        return "date" if name == "IsoDate" else f"[{name}](#{name.lower()})"
    if "anyOf" in value:
        return " or ".join(_type(one) for one in value["anyOf"])
    if "enum" in value:
        return ", ".join(f"`{one}`" for one in value["enum"])
    if value["type"] == "array":
        return f"list of {_type(value['items'])}"
    if value["type"] == "object":
        return f"map to {_type(value['additionalProperties'])}"
    return str(value["type"])


def schema_text() -> str:
    """The shipped schema file."""
    return json.dumps(record_schema(), ensure_ascii=False, indent=1) + "\n"


def vocabulary_page() -> str:
    """Every term."""
    vocabulary = load_vocabulary()
    facets = {kind: facet for facet, kind in FACETS.items() if kind}
    studies: dict[str, str] = {}
    parts = []
    for kind in KINDS:
        text = (resources.files("pilotage.library") / "vocabulary" / f"{kind}.yaml").read_text("utf-8")
        for name, study in (yaml.safe_load(text).get("studies") or {}).items():
            studies[name] = f"- `{name}`: {study['title']}, <{study['url']}>"
        size = len(vocabulary.of(kind))
        head = f"{size} terms, version {vocabulary.versions[kind]}; facet `{facets[kind]}`."
        parts += [f"## {kind}", head, _terms(vocabulary, kind)]
    return page(
        "Vocabulary",
        "The terms that records are tagged with. `pilotage library vocab KIND TERM` shows one with its synonyms,"
        " the Korean definition and its counterparts in published studies. A deprecated slug keeps resolving to"
        " the term that took its place.",
        *parts,
        "## Studies of the crosswalk",
        "\n".join(studies[name] for name in sorted(studies)),
    )


def _terms(vocabulary: Vocabulary, kind: str) -> str:
    rows = []
    for term in vocabulary.of(kind).values():
        said = term.definition.get("en", "")
        if term.replaced_by:
            said = f"Deprecated; now `{term.replaced_by}`. {said}"
        parent = f"`{term.parent}`" if term.parent else ""
        rows.append((f"`{term.slug}`", term.label.get("en", ""), term.label.get("ko", ""), said, parent))
    return table(("slug", "English", "Korean", "definition", "parent"), rows)


def formats_page() -> str:
    """Every import and export format."""
    read = [(f"`{one.name}`", one.title) for one in IMPORTERS]
    written = [(f"`{one.name}`", one.title, "yes" if one.binary else "no") for one in EXPORTERS]
    return page(
        "Formats",
        "## Import",
        "`pilotage library import` tells the format of a file by its content; `--format NAME` says it. `--dry-run`"
        " prints what goes where, what is dropped and why.",
        table(("name", "what it reads"), read),
        "## Export",
        "`pilotage library export --format NAME`.",
        table(("name", "what it writes", "binary"), written),
    )


# Output: commands that are really run

SAMPLES = (
    "google-cloud-2017-04-05-https-load-balancer-stale-config",
    "dfds-2021-06-22-vpc-cni-replacement-detached-target-groups",
    "dfds-2021-06-30-alb-targets-detached-again-on-upgrade",
)
BROKEN = "id: acme-2024-05-01-dns\nstatus: finished\ndate: 2024-13-01\ncomponents: [core-dns]\n"
GRADED = {
    "query": "upgrade detached the load balancer's targets",
    "lang": "en",
    "relevant": {SAMPLES[2]: 3},
    "kind": "symptom",
}
MORE = 2
LONG = 88


def output_page() -> str:
    """What every command answers with `--output json`."""
    with _quiet_place() as folder:
        files = [str(path) for path in bundled_files() if path.stem in SAMPLES]
        Path("records").mkdir()
        for file in files:
            (Path("records") / Path(file).name).write_bytes(Path(file).read_bytes())
        Path("broken.yaml").write_text(BROKEN, encoding="utf-8")
        Path("queries.jsonl").write_text(json.dumps(GRADED) + "\n", encoding="utf-8")
        parts = [part for said, args in _outputs() for part in _example(said, args, folder)]
    return page(
        "Output",
        "`--output json` (`-o json`) gives one JSON document on standard output. The answers below are real: the"
        f" commands ran over a store of three bundled records. Lists and maps are cut after {MORE} items and"
        " long texts after some words, all marked with `…`; times are replaced by `TIME`. New keys may be added; keys that"
        " are there keep their meaning.",
        *parts,
    )


def _outputs() -> Iterator[tuple[str, list[str]]]:
    google, first, again = SAMPLES
    yield "With `--dry-run` also `items`: each record with its mapping report.", ["import", "records"]
    yield "", ["import", f"records/{first}.yaml", "--dry-run"]
    why = (
        "`hits[].why` says what matched: vocabulary terms, words, snippets with the marked ranges, the share of"
        " likeness in meaning. `no_good_match` is true when nothing is good enough; then `hits` is empty and"
        " `suggestions` holds terms."
    )
    yield why, ["search", "502 from the load balancer", "--limit", "1"]
    yield "", ["search", "boiled eggs"]
    yield "The record itself, as it was imported: see [record](record.md).", ["show", google]
    yield "`next` goes into `--cursor`; null on the last page.", ["list", "--limit", "1"]
    yield "`hand_made` marks a link that an editor made.", ["related", again, "--limit", "1"]
    yield "", ["topic", "component=cloud-load-balancer"]
    yield "", ["vocab"]
    yield (
        "`records` is the number of records that bear the term.",
        ["vocab", "components", "cloud-load-balancer"],
    )
    yield "", ["stats"]
    yield "", ["stats", "--by", "root_cause", "component"]
    yield "Only with `--to`; otherwise standard output is the export.", ["export", "--to", "all.json"]
    yield "Exit code 1 when `ok` is false.", ["validate", "broken.yaml"]
    yield "Exit code 1 when `ok` is false; `problems` are sentences.", ["verify"]
    yield "", ["new", "acme-2024-05-01-dns-push-emptied-zones"]
    yield "Newest first.", ["history", google]
    yield "", ["evaluate", "queries.jsonl"]
    yield "An error, on standard error, with exit code 2.", ["show", "no-such-record"]


def _example(said: str, args: list[str], folder: str) -> list[str]:
    shown = " ".join(f'"{arg}"' if " " in arg else arg for arg in args)
    text = _run(["library", *args, "--output", "json"]).replace(folder, "FOLDER")
    text = re.sub(r"\d{4}-\d{2}-\d{2}T[0-9:.]+(?:\+00:00|Z)", "TIME", text) if args[0] == "history" else text
    body = _laid_out(_trim(json.loads(text)))
    return [f"## pilotage library {shown}", said, f"```json\n{body}\n```"]


def _trim(value: Any) -> Any:
    if isinstance(value, dict):
        whole = len(value) <= MORE + 1 or not all(isinstance(one, list | dict) for one in value.values())
        shown = value if whole else dict(list(value.items())[:MORE])
        rest = {} if whole else {"…": f"{len(value) - MORE} more"}
        return {key: _trim(one) for key, one in shown.items()} | rest
    if isinstance(value, list):
        rest = [f"… {len(value) - MORE} more"] if len(value) > MORE else []
        return [_trim(one) for one in value[:MORE]] + rest
    if isinstance(value, str) and len(value) > LONG:
        cut = value[:LONG]
        return (cut.rpartition(" ")[0] or cut).split("\n")[0] + " …"
    return value


def _laid_out(value: Any, indent: int = 0) -> str:
    """JSON with what fits on one line on one line."""
    short = json.dumps(value, ensure_ascii=False)
    if len(short) + indent <= WIDTH or not isinstance(value, dict | list):
        return short
    pad = " " * (indent + 1)
    if isinstance(value, dict):
        heads = [f"{json.dumps(key, ensure_ascii=False)}: " for key in value]
        lines = [head + _laid_out(one, indent + 1) for head, one in zip(heads, value.values(), strict=True)]
    else:
        lines = [_laid_out(one, indent + 1) for one in value]
    left, right = "{}" if isinstance(value, dict) else "[]"
    return left + "\n" + ",\n".join(pad + line for line in lines) + "\n" + " " * indent + right


def _run(args: list[str]) -> str:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), contextlib.suppress(SystemExit):
        run(args)
    text = out.getvalue() or err.getvalue()
    if '"code": "bug"' in text or "Traceback" in text:
        raise RuntimeError(f"{args}: {text}")
    return text


@contextlib.contextmanager
def _quiet_place() -> Iterator[str]:
    """An empty working folder without the settings of this machine, its own store, and words only."""
    before, where = dict(os.environ), Path.cwd()
    with tempfile.TemporaryDirectory(prefix="docs-") as folder:
        try:
            for name in [name for name in os.environ if name.startswith(PREFIX)]:
                del os.environ[name]
            os.environ |= {
                "PILOTAGE_STORE__URL": "library.db",
                "PILOTAGE_LIBRARY__SEMANTIC": "false",
                "PILOTAGE_LANG": "en",
            }
            os.chdir(folder)
            yield folder
        finally:
            os.chdir(where)
            os.environ.clear()
            os.environ |= before


def check_report_page() -> str:
    """Every key of a report of checks."""
    schema = report_schema()
    parts = [
        (
            "What `pilotage check … --output json` writes. The JSON Schema is shipped as"
            f" `pilotage/checks/reports/{CHECK_SCHEMA_FILE}`; the types that the report is built of make both. New keys may"
            " be added; a key that changes its meaning or goes raises `version`."
        ),
        table(("key", "type", "meaning"), _report_keys(schema)),
    ]
    for name, part in schema["$defs"].items():
        keys = table(("key", "type", "meaning"), _report_keys(part))
        parts += [f"## {name}", part.get("description", ""), keys]
    return page("Report of checks", *parts)


def _report_keys(part: dict[str, Any]) -> list[tuple[str, ...]]:
    return [
        (f"`{key}`", _report_type(value), value.get("description", ""))
        for key, value in part["properties"].items()
    ]


def _report_type(value: dict[str, Any]) -> str:
    if "const" in value:
        return f"`{value['const']}`"
    if value.get("type") == "object":
        inner = value.get("additionalProperties")
        return f"map to {_report_type(inner)}" if isinstance(inner, dict) else "object"
    if value.get("type") == "array":
        return f"list of {_report_type(value['items'])}"
    if "anyOf" in value:
        return " or ".join(_report_type(one) for one in value["anyOf"])
    return _type(value)


# Vectors


def vectors() -> bytes:
    """The vectors of all passages of the bundled records; the model makes only those that are not there yet."""
    texts: dict[str, None] = {}
    for candidate in bundled_candidates():
        texts |= dict.fromkeys(passage.text for passage in passages(read_record(candidate.document)))
    embedder = load_embedder(MODEL)
    assert isinstance(embedder, WithShipped)  # noqa: S101 - the one with shipped vectors
    file = io.BytesIO()
    np.save(file, embedder.table(list(texts)))
    return file.getvalue()


PAGES: dict[Path, Callable[[], str | bytes]] = {
    VOCABULARY: compiled,  # first: the pages are made from what it says
    REFERENCE / "cli.md": cli_page,
    REFERENCE / "settings.md": settings_page,
    REFERENCE / "errors.md": errors_page,
    REFERENCE / "record.md": record_page,
    REFERENCE / "vocabulary.md": vocabulary_page,
    REFERENCE / "formats.md": formats_page,
    REFERENCE / "output.md": output_page,
    REFERENCE / "check-report.md": check_report_page,
    SCHEMA: schema_text,
    CHECK_SCHEMA: check_schema_text,
    VECTORS: vectors,
}
"""Every generated file and what makes it."""


def main(arguments: list[str]) -> int:
    """Writes or checks; returns the exit code."""
    wrong = 0
    for path, make in PAGES.items():
        made = make()
        content = made.encode() if isinstance(made, str) else made
        if path.exists() and path.read_bytes() == content:
            continue
        wrong += 1
        name = path.relative_to(ROOT)
        if "--check" in arguments:
            print(f"{name} differs from the code; run `make docs`")
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        print(f"wrote {name}")
    return 1 if wrong and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
