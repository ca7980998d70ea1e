"""`pilotage library related`, `topic` and `stats`."""

from __future__ import annotations

import click
from rich.console import Console

from pilotage.cli.library.options import App, cursor_option, library_options, term_arguments
from pilotage.cli.library.rendering import say_part
from pilotage.cli.output import console, say, say_json
from pilotage.core.counting import counted
from pilotage.library.insight.related import RelatedAnswer
from pilotage.library.insight.statistics import Distribution, Matrix, Statistics
from pilotage.library.insight.topics import Topic
from pilotage.library.interval import format_interval
from pilotage.library.record import Lang
from pilotage.library.stores.protocol import Filters
from pilotage.library.terms import FACET_LABELS

_SHOWN_TERMS = 5
_BAR = 24
_INTERVAL_LABELS: dict[str, dict[Lang, str]] = {
    "detected_after": {"en": "time to detect", "ko": "감지까지 걸린 시간"},
    "mitigated_after": {"en": "time to mitigate", "ko": "완화까지 걸린 시간"},
    "resolved_after": {"en": "time to resolve", "ko": "해결까지 걸린 시간"},
}


@click.command()
@click.argument("id")
@click.option(
    "-n", "--limit", type=click.IntRange(1, 100), default=5, show_default=True, help="Number of incidents."
)
@cursor_option
@click.option("--reasons", is_flag=True, help="Show every reason with its weight and evidence.")
@library_options
def related(app: App, id: str, limit: int, cursor: str | None, reasons: bool) -> None:  # noqa: A002 - the word that the user sees
    """Incidents like this one, each with its reasons.

    Links made by hand come first; a score is the sum of the weights of its reasons.

    \b
    Examples:
      pilotage library related skyscanner-2019-04-23-haproxy-ingress-hot-podding
      pilotage library related zalando-2019-01-07-coredns-oom-total-dns-outage --reasons --lang ko
    """
    with app.catalogue() as catalogue:
        answer = catalogue.related(id, app.audience, app.lang, limit=limit, cursor=cursor)
    if app.as_json:
        say_json(answer.to_json())
    else:
        _say_related(answer, app.lang, reasons=reasons)


def _say_related(answer: RelatedAnswer, lang: Lang, *, reasons: bool) -> None:
    out = console()
    if not answer.hits:
        say(out, "Nothing is like it." if lang == "en" else "비슷한 사례가 없습니다.")
        return
    for hit in answer.hits:
        mark = (" [by hand]" if lang == "en" else " [직접 연결]") if hit.hand_made else ""
        say(out, f"{hit.score:>5.2f}  {hit.title}{mark}", "bold")
        say(out, f"{hit.organisation or '?'} · {hit.date or '?'} · {hit.id}", "cyan", indent=7)
        if reasons:
            for reason in hit.reasons:
                say(out, f"{reason.weight:>5.2f}  {reason.text(lang)}", "green", indent=7)
        else:
            say(out, hit.why(lang), "green", indent=7)
    say_part(out, answer.onward, len(answer.hits), answer.total, lang)


@click.command()
@term_arguments
@click.option(
    "-n", "--limit", type=click.IntRange(1, 200), default=10, show_default=True, help="Number of cases."
)
@cursor_option
@library_options
def topic(app: App, facet: tuple[str, ...], limit: int, cursor: str | None) -> None:
    """What the incidents that bear all of the terms have in common.

    Each companion comes with its number of cases, the base rate in the whole library, and the lift of one
    over the other.

    \b
    Examples:
      pilotage library topic component=ingress
      pilotage library topic component=coredns symptom=oom-killed --lang ko
      pilotage library topic cause=configuration-change year=2021 --output json
    """
    if not facet:
        raise click.UsageError("name at least one term, such as component=ingress")
    with app.catalogue() as catalogue:
        tags = catalogue.tags(facet, app.audience)
        found = catalogue.topic(tags, app.audience, app.lang, limit=limit, cursor=cursor)
    if app.as_json:
        say_json(found.to_json())
    else:
        _say_topic(found, app.lang)


def _say_topic(found: Topic, lang: Lang) -> None:
    out = console()
    say(out, found.summary(lang), "bold")
    for facet, companions in found.companions.items():
        if companions:
            out.print()
            say(out, FACET_LABELS[facet][lang], "bold")
        for term in companions[:_SHOWN_TERMS]:
            rate = f"{term.n} of {term.of}, base {term.base_n} of {term.base_of}, lift {term.lift:.1f}"
            if lang == "ko":
                rate = (
                    f"{term.of}건 중 {term.n}건, 전체 {term.base_of}건 중 {term.base_n}건, {term.lift:.1f}배"
                )
            say(out, f"{term.label[lang]}  ({rate})", indent=2)
    if found.lessons:
        out.print()
        say(out, "Shared lessons" if lang == "en" else "공통 교훈", "bold")
    for shared in found.lessons:
        for lesson in shared.lessons:
            say(out, f"- {lesson.text[lang]} ({lesson.id})", indent=2)
    out.print()
    for case in found.cases:
        say(out, f"{case.date or '?':<11} {case.organisation or '?':<16} {case.title}")
        say(out, case.id, "dim", indent=12)
    say_part(out, found.onward, len(found.cases), found.total, lang)


@click.command()
@term_arguments
@click.option(
    "--by", nargs=2, metavar="FACET FACET", help="How often the terms of two facets stand together."
)
@click.option(
    "-n", "--limit", type=click.IntRange(1, 100), default=12, show_default=True, help="Most terms of a facet."
)
@library_options
def stats(app: App, facet: tuple[str, ...], by: tuple[str, str] | None, limit: int) -> None:
    """Counts by facet and year, co-occurrence of two facets, time to resolve.

    Times are a distribution over the records that state them, never a mean.

    \b
    Examples:
      pilotage library stats
      pilotage library stats component=coredns
      pilotage library stats --by root_cause component
      pilotage library stats --output json
    """
    with app.catalogue() as catalogue:
        filters = Filters(all_of=catalogue.tags(facet, app.audience))
        if by is not None:
            matrix = catalogue.matrix(*by, app.audience, filters, limit=limit)
            if app.as_json:
                say_json(matrix.to_json())
            else:
                _say_matrix(matrix, app.lang)
            return
        found = catalogue.statistics(app.audience, filters)
    if app.as_json:
        say_json(found.to_json())
    else:
        _say_statistics(found, app.lang, limit)


def _say_statistics(found: Statistics, lang: Lang, limit: int) -> None:
    out = console()
    if lang == "en":
        say(
            out,
            f"{counted(found.records, 'record')}, {found.bilingual} bilingual,"
            f" {counted(found.organisations, 'organisation')}",
            "bold",
        )
    else:
        say(out, f"사례 {found.records}건, 두 언어 {found.bilingual}건, 조직 {found.organisations}곳", "bold")
    say(out, ", ".join(f"{name} {count}" for name, count in found.status.items()), "dim")
    for facet in ("year", "root_cause", "component", "symptom", "contributing", "domain", "organisation"):
        counts = list(found.facets.get(facet, ()))
        if not counts:
            continue
        out.print()
        say(out, FACET_LABELS[facet][lang], "bold")
        if facet == "year":
            counts.sort(key=lambda item: item.slug)
        most = max((item.n for item in counts), default=1)
        for item in counts if facet == "year" else counts[:limit]:
            bar = "█" * max(1, round(_BAR * item.n / most))
            say(out, f"{item.n:>5}  {bar:<{_BAR}}  {item.label.get(lang, item.slug)}", indent=2)
        if facet != "year" and len(counts) > limit:
            more = len(counts) - limit
            say(out, f"and {more} more" if lang == "en" else f"그 밖에 {more}개", "dim", indent=2)
    for interval in found.durations:
        _say_interval(out, interval, lang)


def _say_interval(out: Console, found: Distribution, lang: Lang) -> None:
    out.print()
    stated = f"stated by {found.n} of {found.of}" if lang == "en" else f"{found.of}건 중 {found.n}건에 명시됨"
    say(out, f"{_INTERVAL_LABELS[found.interval][lang]}: {stated}", "bold")
    marks = [(name, getattr(found, name)) for name in ("minimum", "q1", "median", "q3", "maximum")]
    known = [(name, value) for name, value in marks if value is not None]
    if known:
        say(out, ", ".join(f"{name} {format_interval(value)}" for name, value in known), indent=2)
    most = max((bucket.n for bucket in found.buckets), default=0) or 1
    for bucket in found.buckets:
        if bucket.n:
            high = format_interval(bucket.high) if bucket.high is not None else "…"
            span = f"{format_interval(bucket.low)} – {high}"
            say(
                out, f"{bucket.n:>5}  {'█' * max(1, round(_BAR * bucket.n / most)):<{_BAR}}  {span}", indent=2
            )


def _say_matrix(matrix: Matrix, lang: Lang) -> None:
    out = console()
    say(
        out,
        f"{FACET_LABELS[matrix.first][lang]} × {FACET_LABELS[matrix.second][lang]}, n = {matrix.total}",
        "bold",
    )
    for place, column in enumerate(matrix.columns, start=1):
        say(
            out,
            f"{place:>3} {matrix.labels[1][column].get(lang, column)} ({matrix.column_totals[place - 1]})",
            "dim",
        )
    say(out, " " * 7 + "".join(f"{place:>4}" for place in range(1, len(matrix.columns) + 1)))
    for row, cells, total in zip(matrix.rows, matrix.cells, matrix.row_totals, strict=True):
        numbers = "".join(f"{cell or '·':>4}" for cell in cells)
        say(out, f"{total:>5}  {numbers}  {matrix.labels[0][row].get(lang, row)}")
