"""`pilotage library show`, `list` and `history`."""

from __future__ import annotations

import difflib
import json

import click

from pilotage.cli.library.options import App, cursor_option, library_options, term_arguments
from pilotage.cli.library.rendering import date_words, one_line, say_part, say_record
from pilotage.cli.output import console, say, say_json
from pilotage.library.record import read_record
from pilotage.library.stores.protocol import Filters, Revision
from pilotage.library.terms import load_vocabulary


@click.command()
@click.argument("id")
@click.option("--revision", type=click.IntRange(1), help="An older state of the record.")
@library_options
def show(app: App, id: str, revision: int | None) -> None:  # noqa: A002 - the word that the user sees
    """Show one incident: summary, mechanism, timeline, lessons, sources. An old id resolves too.

    \b
    Examples:
      pilotage library show skyscanner-2019-04-23-haproxy-ingress-hot-podding
      pilotage library show zalando-2018-09-07-iam-404-cronjob-api-server-oom --lang ko
      pilotage library show ID --revision 1 --output json
    """
    with app.catalogue() as catalogue:
        stored = catalogue.stored(id, app.audience)
        document = stored.document
        if revision is not None:
            document = catalogue.revision(stored.id, revision, app.audience).document
    if app.as_json:
        say_json(document)
        return
    record = read_record(document, where=stored.id)
    say_record(console(), record, app.lang, load_vocabulary(), private=stored.private)


@click.command("list")
@term_arguments
@click.option(
    "-n", "--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="Number of records."
)
@cursor_option
@library_options
def list_(app: App, facet: tuple[str, ...], limit: int, cursor: str | None) -> None:
    """List incidents, newest first, that bear all the given terms. Withdrawn ones only with status=withdrawn.

    \b
    Examples:
      pilotage library list
      pilotage library list component=coredns year=2019
      pilotage library list org=zalando --output json
    """
    with app.catalogue() as catalogue:
        filters = Filters(all_of=catalogue.tags(facet, app.audience))
        page = catalogue.page(filters, app.audience, limit=limit, cursor=cursor)
    records = [(read_record(stored.document, where=stored.id), stored) for stored in page.items]
    if app.as_json:
        items = [
            {
                "id": record.id,
                "aliases": list(record.aliases),
                "organisation": record.org,
                "date": record.date,
                "date_kind": record.date_kind,
                "date_precision": record.date_precision,
                "title": record.title.get(app.lang) if record.title else "",
                "status": record.status,
                "private": stored.private,
                "sources": [source.url for source in record.sources or []],
            }
            for record, stored in records
        ]
        say_json({"total": page.total, "items": items, "next": page.next})
        return
    out = console()
    for record, stored in records:
        title = one_line(record.title.get(app.lang) if record.title else "", 120)
        mark = ""
        if stored.private:
            mark = " [private]" if app.lang == "en" else " [비공개]"
        say(out, f"{date_words(record, app.lang):<22} {record.org or '?':<16} {title}{mark}")
        say(out, record.id, "dim", indent=23)
    say_part(out, page.onward, len(records), page.total, app.lang)


@click.command()
@click.argument("id")
@click.option("--diff", is_flag=True, help="Show what each revision changed.")
@library_options
def history(app: App, id: str, diff: bool) -> None:  # noqa: A002 - the word that the user sees
    """List the revisions of a record, newest first, with what brought them.

    \b
    Examples:
      pilotage library history google-cloud-2017-04-05-https-load-balancer-stale-config
      pilotage library history ID --diff
    """
    with app.catalogue() as catalogue:
        stored = catalogue.stored(id, app.audience)
        revisions = catalogue.store.revisions(stored.id, app.audience)
    if app.as_json:
        items = [
            {"number": r.number, "stored_at": r.stored_at, "origin": r.origin, "digest": r.digest}
            for r in revisions
        ]
        say_json({"id": stored.id, "revisions": items})
        return
    out = console()
    for place, revision in enumerate(revisions):
        say(out, f"{revision.number}  {revision.stored_at}  {revision.origin}  {revision.digest[:12]}")
        if diff and place + 1 < len(revisions):
            for line in _changes(revisions[place + 1], revision):
                say(out, line, "green" if line.startswith("+") else "red", indent=4)


def _changes(old: Revision, new: Revision) -> list[str]:
    before, after = (
        json.dumps(revision.document, ensure_ascii=False, indent=1, sort_keys=True).splitlines()
        for revision in (old, new)
    )
    lines = difflib.unified_diff(before, after, lineterm="", n=0)
    return [line for line in lines if line[:1] in "+-" and line[:3] not in {"+++", "---"}]
