"""What the sections of a post-mortem become in a record."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pilotage.library.importers.fields import text_of, web_address
from pilotage.library.importers.headings import plain_heading
from pilotage.library.importers.markdown_parts import ListItem, Section, items_of, paragraphs
from pilotage.library.importers.model import Note

_TIME = re.compile(
    r"^(?:\*\*|__|`|\[)?"
    r"((?:\d{4}-\d{2}-\d{2}[ T]?)?(?:\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?"
    r"(?:[ ]?(?:Z|[+-]\d{2}:?\d{2}|[ap]\.?m\.?|[A-Z]{3,4}(?![A-Za-z])))?(?:[ ]?\([A-Z]{3,4}\))?)"
    r"(?:\*\*|__|`|\])?[ \t]*[-–—:|,]*[ \t]*(?:\*\*|__)?[ \t]*",
)
_ISO = re.compile(r"(?<!\d)(\d{4})[-./](\d{1,2})[-./](\d{1,2})(?!\d)")
_KOREAN = re.compile(r"(\d{4})\s*년\s*(\d{1,2})\s*월\s*(\d{1,2})\s*일")
_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_MONTH_FIRST = re.compile(r"([A-Za-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})")
_DAY_FIRST = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?\s+([A-Za-z]{3,9})\.?,?\s+(\d{4})")
_LINK = re.compile(r"https?://[^\s<>()\[\]\"'|]+")
_TIME_HEADS = frozenset(
    {"time", "when", "date", "timestamp", "시각", "시간", "일시", "time (utc)", "시각 (kst)", "at"}
)
_TEXT_HEADS = (
    "action item",
    "action",
    "task",
    "item",
    "description",
    "event",
    "what",
    "what happened",
    "title",
    "details",
    "후속 조치",
    "조치",
    "내용",
    "할 일",
    "항목",
    "사건",
)
_STATUS_HEADS = frozenset({"status", "state", "상태", "진행 상태"})
_STATUSES = {
    "done": "done",
    "complete": "done",
    "completed": "done",
    "closed": "done",
    "완료": "done",
    "in progress": "under_way",
    "in-progress": "under_way",
    "doing": "under_way",
    "진행 중": "under_way",
    "진행중": "under_way",
    "todo": "planned",
    "to do": "planned",
    "open": "planned",
    "planned": "planned",
    "예정": "planned",
    "계획": "planned",
}
_ALL_LESSONS = frozenset(
    {
        "lessons learned",
        "lessons",
        "learnings",
        "what we learned",
        "takeaways",
        "교훈",
        "배운 점",
        "얻은 교훈",
    }
)
_NONE = re.compile(r"^(?:n/?a|none|tbd|-|없음|해당 없음)\.?$", re.IGNORECASE)


@dataclass
class Gathered:
    """The parts of a record that were found so far.

    Attributes:
        texts: paragraphs by field.
        lists: list values by field.
        impact: paragraphs on the impact.
        found: targets that had a section with text.
        notes: the mapping report.
    """

    texts: dict[str, list[str]] = field(default_factory=dict)
    lists: dict[str, list[Any]] = field(default_factory=dict)
    impact: list[str] = field(default_factory=list)
    found: set[str] = field(default_factory=set)
    notes: list[Note] = field(default_factory=list)

    def add_text(self, name: str, text: str) -> None:
        """Append paragraphs to a bilingual text."""
        self.texts.setdefault(name, []).append(text)
        self.found.add(name)

    def fields(self) -> dict[str, Any]:
        """The record's fields."""
        texts = {name: text_of("\n\n".join(parts)) for name, parts in self.texts.items()}
        return texts | self.lists


def date_in(text: str) -> str | None:
    """The first day that a text names, as YYYY-MM-DD; ambiguous forms (3/4/2020) do not count."""
    for pattern in (_ISO, _KOREAN):
        found = pattern.search(text)
        if found:
            return _day(found.group(1), found.group(2), found.group(3))
    found = _MONTH_FIRST.search(text)
    if found:
        return _day(found.group(3), _month(found.group(1)), found.group(2))
    found = _DAY_FIRST.search(text)
    if found:
        return _day(found.group(3), _month(found.group(2)), found.group(1))
    return None


def _month(name: str) -> str:
    lower = name.lower()
    return next((str(n) for n, month in enumerate(_MONTHS, start=1) if month.startswith(lower)), "0")


def _day(year: str, month: str, day: str) -> str | None:
    try:
        return dt.date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return None


def add_section(gathered: Gathered, section: Section) -> None:
    """Put the section where its target says."""
    target = section.target or ""
    if _NONE.match(section.text):
        gathered.notes.append(Note("dropped", section.heading, "", f"it says only '{section.text}'"))
        return
    gathered.found.add(target)
    adder = _ADDERS.get(target)
    where = adder(gathered, section) if adder else target
    if adder is None:
        gathered.add_text(target, section.text)
    why = "choose root_cause by hand: the input names no term" if target == "cause" else ""
    if where:
        gathered.notes.append(Note("mapped", section.heading, where, why))


def _add_cause(gathered: Gathered, section: Section) -> str:
    gathered.texts.setdefault("summary", []).append(f"{plain_heading(section.heading)}: {section.text}")
    return "summary"


def _add_impact(gathered: Gathered, section: Section) -> str:
    gathered.impact.append(section.text)
    return "impact.text"


def _add_symptoms(gathered: Gathered, section: Section) -> str:
    gathered.add_text("symptoms_text", "\n\n".join(item.text for item in items_of(section)))
    return "symptoms_text"


def _add_lessons(gathered: Gathered, section: Section) -> str:
    heading = plain_heading(section.heading)
    prefix = "" if heading.lower() in _ALL_LESSONS else f"{heading}\n\n"
    gathered.add_text("lessons", prefix + section.text)
    return "lessons"


def _add_contributing(gathered: Gathered, section: Section) -> str:
    factors = [{"kind": None, "text": text_of(item.text)} for item in items_of(section) if item.text]
    gathered.lists.setdefault("contributing_notes", []).extend(factors)
    return "contributing_notes"


def _add_remediation(gathered: Gathered, section: Section) -> str:
    actions = [{"text": text_of(_text(item))} for item in items_of(section) if _text(item)]
    gathered.lists.setdefault("remediation", []).extend(actions)
    return "remediation"


def _add_action_items(gathered: Gathered, section: Section) -> str:
    for item in items_of(section):
        text = _text(item)
        if not text:
            continue
        action: dict[str, Any] = {"text": text_of(text)}
        status = _status(item)
        if status:
            action["status"] = status
        gathered.lists.setdefault("action_items", []).append(action)
        left = [head for head in item.cells if item.cells[head] != text and head not in _STATUS_HEADS]
        for head in left:
            note = Note("dropped", f"{section.heading}: {head}", "", "a follow-up has no field for it")
            if note not in gathered.notes:
                gathered.notes.append(note)
    return "action_items"


def _text(item: ListItem) -> str:
    return next((item.cells[head] for head in _TEXT_HEADS if item.cells.get(head)), item.text)


def _status(item: ListItem) -> str | None:
    if item.done is not None:
        return "done" if item.done else "planned"
    stated = next((item.cells[head] for head in item.cells if head in _STATUS_HEADS), "")
    plain = stated.strip("*_ ").lower().split("[")[-1].strip("[]() ")
    return _STATUSES.get(plain)


def _add_events(gathered: Gathered, section: Section) -> str:
    events = gathered.lists.setdefault("events", [])
    items = items_of(section)
    if (len(items) == 1 and not items[0].cells) or not _is_list(section):
        items = (
            [ListItem(line.strip()) for line in section.lines if line.strip()]
            if not _has_rows(items)
            else items
        )
    for item in items:
        at, text = _row_event(item) if item.cells else _split_time(item.text)
        if text:
            events.append({"at": at, "text": text_of(text)})
    return "events"


def _is_list(section: Section) -> bool:
    return "\n".join(items.text for items in items_of(section)) != "\n".join(paragraphs(section.text))


def _has_rows(items: list[ListItem]) -> bool:
    return any(item.cells for item in items)


def _row_event(item: ListItem) -> tuple[str | None, str]:
    head = next((head for head in item.cells if head in _TIME_HEADS or head.startswith("time")), None)
    if head is None:
        return _split_time(" ".join(item.cells.values()))
    rest = [cell for name, cell in item.cells.items() if name != head]
    return item.cells[head], " ".join(rest)


def _split_time(text: str) -> tuple[str | None, str]:
    """The time at the beginning of a line as it is written, and what follows it."""
    found = _TIME.match(text)
    if not found or not re.search(r"\d", found.group(1)):
        return None, text
    rest = text[found.end() :].strip()
    return (found.group(1).strip(), rest) if rest else (None, text)


def _add_docs(gathered: Gathered, section: Section) -> str:
    links = [link.rstrip(".,;:!?") for link in _LINK.findall(section.text)]
    docs = gathered.lists.setdefault("docs", [])
    docs += [link for link in links if web_address(link) and link not in docs]
    if not links:
        gathered.notes.append(
            Note("dropped", section.heading, "", "only addresses go into docs, and it has none")
        )
        return ""
    return "docs"


_ADDERS: dict[str, Callable[[Gathered, Section], str]] = {
    "cause": _add_cause,
    "impact": _add_impact,
    "symptoms": _add_symptoms,
    "lessons": _add_lessons,
    "contributing": _add_contributing,
    "remediation": _add_remediation,
    "action_items": _add_action_items,
    "events": _add_events,
    "docs": _add_docs,
}
