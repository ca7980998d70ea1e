"""`pilotage library search`."""

from __future__ import annotations

import sys

import click

from pilotage.cli.library.options import App, cursor_option, facet_option, library_options
from pilotage.cli.library.rendering import say_hit, say_part
from pilotage.cli.output import console, say, say_json
from pilotage.core.text import shorten
from pilotage.library.record import Lang
from pilotage.library.search.answer import Answer
from pilotage.library.search.engine import Request
from pilotage.library.stores.protocol import Filters
from pilotage.library.terms import Vocabulary, load_vocabulary

_SHOWN_TERMS = 12
_MOST_STDIN_BYTES = 1024 * 1024


@click.command()
@click.argument("query", nargs=-1)
@click.option(
    "-n", "--limit", type=click.IntRange(1, 200), default=10, show_default=True, help="Number of hits."
)
@cursor_option
@facet_option
@click.option("--no-semantic", is_flag=True, help="Answer from words alone.")
@click.option("--extra", multiple=True, type=click.Choice(["facets"]), help="Show counts by facet too.")
@library_options
def search(
    app: App,
    query: tuple[str, ...],
    limit: int,
    cursor: str | None,
    facet: tuple[str, ...],
    no_semantic: bool,
    extra: tuple[str, ...],
) -> None:
    """Find incidents by words, a question, a pasted log line or a whole alert.

    A query may have up to 20 kB; `-` reads it from standard input. "Quoted phrases" must be there, -words
    must not, field:value filters (org, year, domain, component, symptom, root_cause, contributing, detection,
    remediation, severity, source_kind, status; title:word looks in titles). Dates and organisations are
    understood. When nothing is good enough the answer says so and names the nearest terms. An empty query
    lists all records, newest first.

    \b
    Examples:
      pilotage library search "pods not ready one after another behind ingress"
      pilotage library search "cloudflare november 2025"
      pilotage library search "component:coredns -autoscaler"
      pilotage library search --lang ko "배포했더니 502가 나요"
      kubectl logs deploy/ingress | tail -50 | pilotage library search -
    """
    text = " ".join(query)
    if text == "-":
        # Logs are not always clean UTF-8, and only their beginning is read anyway.
        text = sys.stdin.buffer.read(_MOST_STDIN_BYTES).decode("utf-8", "replace")
    with app.catalogue(semantic=not no_semantic) as catalogue:
        filters = Filters(all_of=catalogue.tags(facet, app.audience))
        answer = catalogue.search(
            Request(
                text=text,
                filters=filters,
                audience=app.audience,
                lang=app.lang,
                limit=limit,
                cursor=cursor,
                facets=bool(extra) or app.as_json,
            )
        )
    if app.as_json:
        say_json(answer.to_json(app.lang, load_vocabulary()))
    else:
        _say_answer(answer, app.lang, load_vocabulary(), show_facets=bool(extra))


def _say_answer(answer: Answer, lang: Lang, vocabulary: Vocabulary, *, show_facets: bool) -> None:
    out = console()
    for typed, meant in answer.corrections:
        say(out, f"'{typed}' read as '{meant}'" if lang == "en" else f"'{typed}' → '{meant}'", "yellow")
    if answer.pasted:
        shown = ", ".join(answer.used[:_SHOWN_TERMS])
        say(
            out,
            f"read as a paste; terms used: {shown}"
            if lang == "en"
            else f"붙여 넣은 글로 읽음. 사용한 단어: {shown}",
            "dim",
        )
    if answer.clipped:
        say(out, "only the first 20 kB were read" if lang == "en" else "앞 20kB만 읽음", "yellow")
    if answer.no_good_match:
        _say_nothing(answer, lang)
        return
    for number, hit in enumerate(answer.hits, start=answer.onward.seen + 1):
        say_hit(out, number, hit, lang)
    say_part(out, answer.onward, len(answer.hits), answer.total, lang)
    if show_facets:
        for facet, values in answer.facets.items():
            ordered = sorted(values.items(), key=lambda pair: (-pair[1], pair[0]))[:8]
            counts = ", ".join(
                f"{vocabulary.facet_label(facet, slug, lang)} {count}" for slug, count in ordered
            )
            say(out, f"{facet}: {shorten(counts, 300)}", "dim")


def _say_nothing(answer: Answer, lang: Lang) -> None:
    out = console()
    say(out, "No good match." if lang == "en" else "맞는 사례가 없습니다.", "bold")
    if answer.suggestions:
        names = ", ".join(f"{term.label.get(lang, term.slug)} ({term.slug})" for term in answer.suggestions)
        say(out, f"Did you mean: {names}" if lang == "en" else f"혹시 찾는 용어: {names}")
    tip = (
        "Describe what you see: the symptom, the component, the error."
        if lang == "en"
        else "증상, 구성 요소, 오류를 보이는 대로 적어 보세요."
    )
    say(out, tip, "dim")
