"""`pilotage library import` and `export`."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from pilotage.cli.library.options import App, facet_option, library_options
from pilotage.cli.library.progress import import_bars, size_of
from pilotage.cli.output import console, say, say_json
from pilotage.core.counting import counted
from pilotage.core.errors import NotFound, UserError
from pilotage.library.authoring.known import known_slugs
from pilotage.library.bundled import bundled_candidates
from pilotage.library.catalogue import Catalogue
from pilotage.library.embedding import installed, load_embedder
from pilotage.library.exporters.table import EXPORTERS, exporter_named, write_file
from pilotage.library.importers.detect import IMPORTERS, open_candidates
from pilotage.library.ingest import Ingest, Item, Report
from pilotage.library.shipped import bundled_files
from pilotage.library.stores.opening import open_store
from pilotage.library.stores.protocol import Filters, Store, Stored
from pilotage.library.terms import load_vocabulary

_SHOWN_ALIKE = 20


@click.command("import")
@click.argument("paths", nargs=-1)
@click.option("--bundled", is_flag=True, help="The records that are shipped with Pilotage.")
@click.option(
    "--format",
    "format_",
    metavar="FORMAT",
    help=f"One of {', '.join(i.name for i in IMPORTERS)}; default: detected.",
)
@click.option(
    "--private", is_flag=True, help="Keep the records private, and redact them before they are stored."
)
@click.option(
    "--redact",
    "words",
    multiple=True,
    metavar="WORD",
    help="With --private: a word to black out too; repeat as needed.",
)
@click.option("--strict", is_flag=True, help="Refuse a slug that the vocabulary does not know.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Change nothing; print what would go where, what would be dropped and why.",
)
@click.option("--no-semantic", is_flag=True, help="Compute no vectors.")
@library_options
def import_(
    app: App,
    paths: tuple[str, ...],
    bundled: bool,
    format_: str | None,
    private: bool,
    words: tuple[str, ...],
    strict: bool,
    dry_run: bool,
    no_semantic: bool,
) -> None:
    """Bring records in from files, folders, zips or standard input (`-`).

    Reads incident JSON (object, list, JSON Lines), our YAML, Google Cloud and Statuspage incidents.json, AWS
    events, Markdown post-mortems in English or Korean, postmortems.app files. One import is one transaction:
    all of it or nothing. Importing the same again changes nothing; a record that changed gets a new revision.
    A slug that the vocabulary lacks is kept and told with the nearest known ones; --strict refuses it.

    \b
    Examples:
      pilotage library import --bundled
      pilotage library import incidents.jsonl --dry-run
      pilotage library import postmortems/ --private --redact "Project Falcon"
      curl -s https://status.example.com/api/v2/incidents.json | pilotage library import -
    """
    if bool(paths) == bundled:
        raise click.UsageError("name files or folders to import, or --bundled (one of the two)")
    if words and not private:
        raise click.UsageError("--redact goes with --private; public records are kept as they are")
    vocabulary = load_vocabulary()
    semantic = app.settings.library.semantic and installed() and not no_semantic and not dry_run
    items: list[Item] = []
    skipped: list[tuple[str, str]] = []
    with ExitStack() as open_things:
        sizes = size_of([str(path) for path in bundled_files()] if bundled else list(paths))
        progress, on_vectors = open_things.enter_context(import_bars(sizes))
        if bundled:
            candidates = bundled_candidates(progress)
        else:
            candidates = open_candidates(
                paths, format_, progress, known=known_slugs(vocabulary), on_skip=_noting(skipped)
            )
        first = list(islice(candidates, 1))
        store = open_things.enter_context(_target(app, make=bool(first) and not dry_run))
        report = Ingest(
            store=store,
            vocabulary=vocabulary,
            embedder=load_embedder() if semantic else None,
            private=private,
            audience="all" if private else app.audience,
            words=(*app.settings.library.redact_words, *words),
            strict=strict,
            dry_run=dry_run,
            on_item=items.append if dry_run else None,
            on_vectors=on_vectors,
        ).run(chain(first, candidates))
    if app.as_json:
        say_json(_report_json(report, items, skipped, dry_run=dry_run))
    else:
        _say_report(report, items, skipped, dry_run=dry_run)


def _noting(skipped: list[tuple[str, str]]) -> Callable[[str, str], None]:
    return lambda name, why: skipped.append((name, why))


@contextmanager
def _target(app: App, *, make: bool) -> Iterator[Store]:
    with ExitStack() as open_things:
        try:
            store = open_things.enter_context(app.store(create=make))
        except NotFound:
            if make:
                raise
            # A dry run makes no store, nor do files without a record: theirs is empty and thrown away.
            folder = open_things.enter_context(tempfile.TemporaryDirectory(prefix="pilotage-"))
            store = open_store(str(Path(folder) / "dry-run.db"), create=True)
            open_things.callback(store.close)
        yield store


def _report_json(
    report: Report, items: list[Item], skipped: list[tuple[str, str]], *, dry_run: bool
) -> dict[str, Any]:
    result: dict[str, Any] = {
        "dry_run": dry_run,
        "total": report.total,
        "new": report.new,
        "changed": report.changed,
        "unchanged": report.unchanged,
        "redacted": report.redacted,
        "alike": [{"id": a.id, "other": a.other, "why": a.why} for a in report.alike],
        "alike_more": report.alike_more,
        "unknown_slugs": [
            {"slug": slug, "times": times, "why": report.nearest[slug]}
            for slug, times in sorted(report.unknown.items())
        ],
        "unknown_slugs_more": report.unknown_more,
        "skipped_files": [{"file": name, "why": why} for name, why in skipped],
    }
    if dry_run:
        result["items"] = [
            {
                "id": item.id,
                "place": item.place,
                "outcome": item.outcome,
                "mapping": [
                    {"kind": n.kind, "source": n.source, "target": n.target, "why": n.why} for n in item.notes
                ],
                "redactions": [
                    {"path": r.path, "kind": r.kind, "preview": r.preview} for r in item.redactions
                ],
            }
            for item in items
        ]
    return result


def _say_report(report: Report, items: list[Item], skipped: list[tuple[str, str]], *, dry_run: bool) -> None:
    out = console()
    for item in items:
        _say_item(out, item)
    head = "would import" if dry_run else "imported"
    say(
        out,
        f"{head} {report.total}: {report.new} new, {report.changed} changed, {report.unchanged} unchanged",
    )
    if report.redacted:
        say(out, f"redacted {counted(report.redacted, 'place')}")
    _say_doubts(out, report)
    if skipped:
        (name, why), number = skipped[0], counted(len(skipped), "file")
        say(out, f"skipped {number} of no known format, the first: {name} ({why})", "dim")
    if dry_run:
        say(out, "nothing was changed", "dim")


def _say_item(out: Console, item: Item) -> None:
    say(out, f"{item.outcome}: {item.id}  ({item.place})", "bold")
    for note in item.notes:
        arrow = f" -> {note.target}" if note.target else ""
        say(out, f"{note.kind}: {note.source}{arrow}" + (f" ({note.why})" if note.why else ""), indent=4)
    for redaction in item.redactions:
        say(out, f"redacted: {redaction.path}: {redaction.kind} {redaction.preview}", "magenta", indent=4)


def _say_doubts(out: Console, report: Report) -> None:
    for slug, times in sorted(report.unknown.items()):
        often = f" ({times} times)" if times > 1 else ""
        near = f" ({report.nearest[slug]})" if report.nearest[slug] else ""
        say(out, f"unknown slug {slug}{often}; kept, but no term of the vocabulary{near}", "yellow")
    if report.unknown_more:
        say(out, f"… and other unknown slugs, {counted(report.unknown_more, 'time')}", "yellow")
    for alike in report.alike[:_SHOWN_ALIKE]:
        say(out, f"maybe the same: {alike.id} and {alike.other} ({alike.why}); both kept", "yellow")
    hidden = len(report.alike[_SHOWN_ALIKE:]) + report.alike_more
    if hidden:
        say(
            out,
            f"… and {hidden} more that may be the same (--output json lists the first thousand)",
            "yellow",
        )


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option(
    "--format",
    "format_",
    metavar="FORMAT",
    default="incident-json",
    show_default=True,
    help=f"One of {', '.join(e.name for e in EXPORTERS)}.",
)
@click.option(
    "--to",
    "target",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write; default, and -: standard output.",
)
@facet_option
@library_options
def export(app: App, ids: tuple[str, ...], format_: str, target: Path | None, facet: tuple[str, ...]) -> None:
    """Write records out: all public ones, those of a facet, or those named.

    A file is written whole or not at all. Private records leave only with --include-private.

    \b
    Examples:
      pilotage library export > incidents.json
      pilotage library export --format csv --to incidents.csv -f component=coredns
      pilotage library export --format sqlite --to incidents.db && datasette incidents.db
      pilotage library export --format zip --to incidents.zip
    """
    exporter = exporter_named(format_)
    target = None if target == Path("-") else target
    if target is None and exporter.binary and sys.stdout.isatty():
        raise UserError(
            f"{exporter.name} is no text for a terminal", hint="Name a file with --to FILE, or pipe it on."
        )
    with app.catalogue() as catalogue:
        if ids and facet:
            raise click.UsageError("name ids or facets, not both")
        records = _records(app, catalogue, ids, facet)
        if target is None:
            sys.stdout.flush()
            count = exporter.write(records, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        else:
            count = write_file(exporter, records, target)
    if target is not None:
        if app.as_json:
            say_json({"format": exporter.name, "file": str(target), "records": count})
        else:
            say(console(), f"wrote {counted(count, 'record')} to {target}")


def _records(
    app: App, catalogue: Catalogue, ids: tuple[str, ...], facet: tuple[str, ...]
) -> Iterator[Stored]:
    if ids:
        # All are looked up before the first is written: a wrong id must not leave half a file.
        return iter([catalogue.stored(name, app.audience) for name in dict.fromkeys(ids)])
    filters = Filters(all_of=catalogue.tags(facet, app.audience), withdrawn=True)
    return catalogue.store.iterate(filters, app.audience)
