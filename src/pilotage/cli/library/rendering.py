"""Records and hits as text."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text as RichText

from pilotage.cli.output import say
from pilotage.core.cursors import Onward
from pilotage.core.text import printable, shorten
from pilotage.library.record import Action, Cause, Event, Factor, Impact, Lang, Record, Step, Text
from pilotage.library.search.answer import FIELD_LABELS, Hit
from pilotage.library.search.snippets import Snippet
from pilotage.library.terms import FACET_LABELS, Vocabulary, load_vocabulary


def date_words(record: Record, lang: Lang) -> str:
    """The date with its kind, as precise as it is known."""
    if record.date is None or record.date_precision == "unknown":
        return "date not stated" if lang == "en" else "날짜 명시되지 않음"
    shown = {"year": record.date[:4], "month": record.date[:7]}.get(
        record.date_precision or "day", record.date
    )
    if record.date_kind == "published":
        return f"published {shown}" if lang == "en" else f"{shown} 공개"
    return shown


def _title(record: Record, lang: Lang) -> str:
    return (record.title.get(lang) if record.title else "") or record.id


def say_hit(where: Console, number: int, hit: Hit, lang: Lang) -> None:
    """One hit of a search."""
    record = hit.record
    title = _title(record, lang)
    head = RichText(f"{number:>2}. ", style="bold") + RichText(printable(title), style="bold")
    if hit.private:
        head.append("  [private]" if lang == "en" else "  [비공개]", style="magenta")
    if record.status != "reviewed":
        head.append(f"  [{_status_word(record, lang, load_vocabulary())}]", style="yellow")
    where.print(head)
    say(where, f"{record.org or '?'} · {date_words(record, lang)} · {record.id}", "cyan", indent=4)
    line = hit.why.line(lang)
    if line:
        say(where, ("why: " if lang == "en" else "근거: ") + line, "green", indent=4)
    for snippet in hit.why.snippets[:2]:
        _say_snippet(where, snippet, lang)


def _say_snippet(where: Console, snippet: Snippet, lang: Lang) -> None:
    label = FIELD_LABELS.get(snippet.field, {}).get(lang, snippet.field)
    line = RichText(f"{label}: ", style="dim")
    last = 0
    for start, end in snippet.marks:
        line.append(printable(snippet.text[last:start]))
        line.append(printable(snippet.text[start:end]), style="bold yellow")
        last = end
    line.append(printable(snippet.text[last:]))
    if where.is_terminal:
        for part in line.wrap(where, max(20, where.width - 4)):
            where.print("    ", part, sep="", soft_wrap=True)
    else:
        where.print("    ", line, sep="")


_SECTIONS: tuple[tuple[str, dict[Lang, str]], ...] = (
    ("summary", {"en": "Summary", "ko": "요약"}),
    ("symptoms_text", {"en": "Symptoms", "ko": "증상"}),
    ("trigger", {"en": "Trigger", "ko": "촉발 요인"}),
    ("mechanism", {"en": "Mechanism", "ko": "메커니즘"}),
    ("detection", {"en": "Detection", "ko": "감지"}),
    ("root_causes", {"en": "Root causes", "ko": "근본 원인"}),
    ("contributing_notes", {"en": "Contributing factors", "ko": "기여 요인"}),
    ("impact", {"en": "Impact", "ko": "영향"}),
    ("events", {"en": "Timeline", "ko": "타임라인"}),
    ("remediation", {"en": "Remediation", "ko": "조치"}),
    ("action_items", {"en": "Follow-up", "ko": "후속 조치"}),
    ("lessons", {"en": "Lessons", "ko": "교훈"}),
    ("disagreement", {"en": "Where sources differ", "ko": "출처 간 불일치"}),
)
_STEP_KINDS: dict[str, dict[Lang, str]] = {
    "latent_condition": {"en": "latent condition", "ko": "잠재 조건"},
    "trigger": {"en": "trigger", "ko": "촉발"},
    "propagation": {"en": "propagation", "ko": "전파"},
    "amplification": {"en": "amplification", "ko": "증폭"},
    "containment": {"en": "containment", "ko": "확산 차단"},
}
_NOT_STATED: dict[Lang, str] = {"en": "not stated in any source", "ko": "명시되지 않음"}


def say_record(where: Console, record: Record, lang: Lang, vocabulary: Vocabulary, *, private: bool) -> None:
    """A whole record."""
    say(where, _title(record, lang), "bold")
    marks = [record.org or "?", date_words(record, lang), _status_word(record, lang, vocabulary)]
    if private:
        marks.append("private" if lang == "en" else "비공개")
    say(where, " · ".join([*marks, record.id]), "cyan")
    if record.withdrawn_reason is not None:
        say(where, record.withdrawn_reason.get(lang), "bold magenta")
    for facet, slugs in _tag_lines(record):
        labels = ", ".join(vocabulary.facet_label(facet, slug, lang) for slug in slugs)
        say(where, f"{FACET_LABELS[facet][lang]}: {labels}", "dim")
    for name, heading in _SECTIONS:
        lines = _lines(record, name, lang)
        state = record.provenance.get(name)
        if not lines and state is not None and state.state == "not_stated":
            lines = [_NOT_STATED[lang]]
        if lines:
            where.print()
            say(where, heading[lang], "bold")
            for line in lines:
                say(where, line, indent=2)
    _say_sources(where, record, lang)


def _status_word(record: Record, lang: Lang, vocabulary: Vocabulary) -> str:
    return vocabulary.facet_label("status", record.status, lang).lower()


def _tag_lines(record: Record) -> list[tuple[str, list[str]]]:
    listed = [
        ("domain", record.domain),
        ("root_cause", record.causes),
        ("component", record.components),
        ("symptom", record.symptoms),
        ("contributing", record.contributing),
    ]
    return [(facet, slugs) for facet, slugs in listed if slugs]


def _lines(record: Record, name: str, lang: Lang) -> list[str]:
    value = getattr(record, name)
    if value is None:
        return []
    if isinstance(value, Text):
        return [part for part in value.get(lang).split("\n\n") if part.strip()]
    if isinstance(value, Impact):
        return _impact_lines(value, lang)
    return [_item_line(number, item, record, lang) for number, item in enumerate(value, start=1)]


def _impact_lines(impact: Impact, lang: Lang) -> list[str]:
    if impact.text:
        return [impact.text.get(lang)]
    parts = {"scope": impact.scope, "users": impact.users, "region": impact.region}
    return [f"{key}: {part}" for key, part in parts.items() if part and part != "unknown"]


def _item_line(number: int, item: Step | Event | Cause | Factor | Action, record: Record, lang: Lang) -> str:
    if isinstance(item, Step):
        return _step_line(number, item, record, lang)
    if isinstance(item, Event):
        return f"{item.at or _NOT_STATED[lang]}: {item.text.get(lang)}"
    text = item.text.get(lang) if item.text else item.kind or ""
    return f"- {text}"


def _step_line(number: int, step: Step, record: Record, lang: Lang) -> str:
    order = {other.id: place for place, other in enumerate(record.mechanism, start=1)}
    targets = ", ".join(str(order[target]) for target in step.leads_to)
    arrow = {"latent_condition": "↥", "containment": "⊣"}.get(step.kind, "→")
    tail = f"  {arrow} {targets}" if targets else ""
    return f"{number}. [{_STEP_KINDS[step.kind][lang]}] {step.text.get(lang)}{tail}"


def _say_sources(where: Console, record: Record, lang: Lang) -> None:
    where.print()
    say(where, "Sources" if lang == "en" else "출처", "bold")
    default = record.provenance.get("default")
    for number, source in enumerate(record.sources or [], start=1):
        say(where, f"[{number}] {source.url} ({source.kind})", indent=2)
        if source.archived:
            say(
                where,
                f"archived: {source.archived}" if lang == "en" else f"보관본: {source.archived}",
                indent=6,
            )
    if default is not None and default.confidence:
        word = "confidence" if lang == "en" else "신뢰도"
        say(
            where,
            f"{word}: {default.confidence}" + (f" ({default.note})" if default.note else ""),
            "dim",
            indent=2,
        )


def one_line(text: str, limit: int = 100) -> str:
    """The first line of a text, shortened."""
    return shorten(printable(" ".join(text.split())), limit)


def say_part(out: Console, onward: Onward, shown: int, total: int, lang: Lang) -> None:
    """Which part of a list was shown, and how to see the next one."""
    first, last = min(onward.seen + 1, onward.seen + shown), onward.seen + shown
    say(out, f"{first}–{last} of {total}" if lang == "en" else f"{total}건 중 {first}–{last}", "dim")
    if onward.next:
        # In one piece, however narrow the terminal: it is there to be copied.
        told = f"{'more' if lang == 'en' else '다음'}: --cursor {onward.next}"
        out.print(told, style="dim", markup=False, soft_wrap=True)
