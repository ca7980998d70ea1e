"""Post-mortems in Markdown, read by a map of their headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pilotage.core.errors import InvalidInput
from pilotage.core.text import kebab
from pilotage.library.decoding.strict_json import decode_text
from pilotage.library.decoding.strict_yaml import parse_all
from pilotage.library.importers.fields import (
    aliases_of,
    draft,
    interval_between,
    make_id,
    text_of,
    web_address,
)
from pilotage.library.importers.headings import SECTIONS, label_for
from pilotage.library.importers.markdown_parts import Parts, divide
from pilotage.library.importers.markdown_record import Gathered, add_section, date_in
from pilotage.library.importers.model import Candidate, Note, Source
from pilotage.library.importers.sniff import front_matter, shape_of

_SEVERITIES = frozenset({"none", "minor", "major", "critical", "unknown"})
_LOOKED_FOR = {
    "summary": "summary",
    "symptoms": "symptoms_text",
    "trigger": "trigger",
    "detection": "detection",
    "lessons": "lessons",
    "remediation": "remediation",
    "action_items": "action_items",
}
_NAME = re.compile(r"\.(?:md|markdown|mdown)$", re.IGNORECASE)
_KIND_OPEN = "whether of the incident or of its publication is not stated"
_STEM = re.compile(r"(?:^|[/!])([^/!]+?)(?:\.[A-Za-z]+)?$")


class Markdown:
    """One post-mortem a file; SRE book, incident.io-like and plain templates, English and Korean."""

    name = "markdown"
    title = "Markdown post-mortem, by its headings (English or Korean)"

    def detects(self, name: str, head: bytes) -> bool:
        """Whether a known section heading stands in a text that looks like Markdown."""
        shape = shape_of(head)
        if shape.kind != "text" or "\x00" in shape.text:
            return False
        parts = divide(_body(shape.text))
        known = sum(section.target is not None for section in parts.sections)
        return known > 0 if _NAME.search(name) else known > 1 and parts.title is not None

    def read(self, source: Source) -> Iterator[Candidate]:
        """The one draft of the file.

        Raises:
            InvalidInput: the text is empty, no UTF-8, or its front matter is no YAML.
        """
        text = decode_text(source.read_all(), source.name).removeprefix("\ufeff").replace("\r\n", "\n")
        _refuse_nul(text, source.name)
        if not text.strip():
            raise InvalidInput(f"{source.name}: there is no text in it", hint="Write a title and sections.")
        matter = read_front_matter(text, source.name)
        parts = divide(_body(text))
        gathered = gather(parts)
        facts = [*_matter_facts(matter, gathered), *parts.facts]
        document = _document(facts, parts, gathered, source.name)
        yield Candidate(document, source.name, self.name, tuple(gathered.notes))


def _refuse_nul(text: str, name: str) -> None:
    if "\x00" in text:
        line = text.count("\n", 0, text.index("\x00")) + 1
        raise InvalidInput(
            f"{name}:{line}: a NUL character", hint="Is this a text file? Remove the character."
        )


def _body(text: str) -> str:
    found = front_matter(text)
    return found[1] if found else text


def read_front_matter(text: str, name: str) -> dict[str, Any]:
    """The front matter as a JSON object, empty when there is none.

    Raises:
        InvalidInput: it is no YAML mapping.
    """
    found = front_matter(text)
    if not found:
        return {}
    for document in parse_all(found[0], name, first_line=2):
        if not isinstance(document.value, dict):
            raise InvalidInput(f"{name}:2: the front matter is no mapping", hint="Write `key: value` lines.")
        return document.value
    return {}


def gather(parts: Parts) -> Gathered:
    """The texts of all known sections; the others are noted as dropped."""
    gathered = Gathered()
    if parts.preface.text:
        gathered.add_text("summary", parts.preface.text)
        gathered.notes.append(Note("mapped", "text before the first section", "summary"))
    levels = [section.level for section in parts.sections[1:]] + [0]
    for section, next_level in zip(parts.sections, levels, strict=False):
        if section.target is None:
            if section.text:
                known = ", ".join(names[0] for names in SECTIONS.values())
                gathered.notes.append(
                    Note("dropped", section.heading, "", f"unknown heading; known are {known}")
                )
        elif section.text:
            add_section(gathered, section)
        elif next_level <= section.level:
            gathered.notes.append(Note("dropped", section.heading, "", "the section is empty"))
    return gathered


def _matter_facts(matter: dict[str, Any], gathered: Gathered) -> list[tuple[str, str, str]]:
    facts = []
    for key, value in matter.items():
        target = label_for(key)
        if target and isinstance(value, str | int | float) and str(value).strip():
            facts.append((target, key, str(value).strip()))
        elif key in {"summary", "description"} and isinstance(value, str) and value.strip():
            gathered.texts.setdefault("summary", []).insert(0, value.strip())
            gathered.notes.append(Note("mapped", key, "summary"))
        else:
            gathered.notes.append(
                Note("dropped", key, "", "the record has no field for it, or choose its terms by hand")
            )
    return facts


def _document(
    facts: list[tuple[str, str, str]], parts: Parts, gathered: Gathered, name: str
) -> dict[str, Any]:
    first: dict[str, tuple[str, str]] = {}
    for target, label, value in facts:
        first.setdefault(target, (label, value))
    title = first.get("title", ("", ""))[1] or parts.title
    if parts.title:
        gathered.notes.append(Note("mapped", "heading of the first level", "title"))
    org = first.get("org", ("", ""))[1] or None
    document: dict[str, Any] = {
        "id": "",
        "aliases": [],
        "org": org,
        "org_slug": (kebab(org) or None) if org else None,
    }
    silent = _date(first, document, gathered.notes)
    stem = _STEM.search(name)
    document["id"] = make_id(
        org or "incident", document.get("date"), title or (stem.group(1) if stem else name)
    )
    if silent:
        # Only now: the id is made of the title, which holds the day already.
        named = {"the title": title or "", "the name of the file": stem.group(1) if stem else ""}
        silent = _date_in_a_name(named, document, gathered.notes)
    if title:
        document["title"] = text_of(title)
    else:
        silent.append("title")
    _severity(first, document, gathered.notes)
    _facts(first, document, gathered.notes)
    _not_repeated(facts, first, gathered.notes)
    document |= gathered.fields()
    if gathered.impact or "service" in first:
        scope = first.get("service", ("", "unknown"))[1]
        document["impact"] = {"scope": scope, "users": "unknown", "region": "unknown"}
        if gathered.impact:
            document["impact"]["text"] = text_of("\n\n".join(gathered.impact))
    silent += [target for key, target in _LOOKED_FOR.items() if key not in gathered.found]
    silent += ["root_cause"] if "cause" not in gathered.found else []
    silent += ["impact"] if "impact" not in gathered.found else []
    return draft(document, silent)


def _date(first: dict[str, tuple[str, str]], document: dict[str, Any], notes: list[Note]) -> list[str]:
    """Set the date from the best of the labels; say in the notes when its kind is not stated."""
    for target, kind in (
        ("incident_date", "incident"),
        ("begin", "incident"),
        ("date", None),
        ("published", "published"),
    ):
        label, value = first.get(target, ("", ""))
        day = date_in(value)
        if day:
            document |= {"date": day, "date_kind": kind, "date_precision": "day"}
            notes.append(Note("mapped", label, "date", "" if kind else _KIND_OPEN))
            return []
        if value:
            notes.append(Note("dropped", label, "", "no date that can be read; write YYYY-MM-DD"))
    return ["date"]


def _date_in_a_name(named: dict[str, str], document: dict[str, Any], notes: list[Note]) -> list[str]:
    """Set the date from the first of the names that holds a day, as in `2024-03-02-checkout.md`."""
    for label, name in named.items():
        if day := date_in(name):
            document |= {"date": day, "date_kind": None, "date_precision": "day"}
            notes.append(Note("mapped", label, "date", _KIND_OPEN))
            return []
    return ["date"]


def _severity(first: dict[str, tuple[str, str]], document: dict[str, Any], notes: list[Note]) -> None:
    label, value = first.get("severity", ("", ""))
    if value.lower() in _SEVERITIES:
        document["severity"] = value.lower()
        notes.append(Note("mapped", label, "severity"))
    elif value:
        notes.append(
            Note("unknown-slug", label, "severity", f"'{value}' is none of {', '.join(sorted(_SEVERITIES))}")
        )


def _facts(first: dict[str, tuple[str, str]], document: dict[str, Any], notes: list[Note]) -> None:
    begin, end = first.get("begin", ("", "")), first.get("end", ("", ""))
    if begin[1] and end[1]:
        interval, why = interval_between(begin[1], end[1])
        document["timeline"] = {"detected_after": None, "resolved_after": interval}
        target = "timeline.resolved_after"
        notes.append(
            Note("mapped", end[0], target) if interval else Note("dropped", end[0], "", f"no {target}: {why}")
        )
    label, value = first.get("url", ("", ""))
    if web_address(value):
        document["sources"] = [{"url": value, "kind": "other"}]
        notes.append(
            Note("mapped", label, "sources", "the kind of the source is not stated; choose it by hand")
        )
    elif value:
        notes.append(Note("dropped", label, "", "no http address"))
    label, value = first.get("id", ("", ""))
    if value:
        document["aliases"] = aliases_of(value, document["id"])
        notes.append(Note("mapped" if document["aliases"] else "dropped", label, "aliases"))
    for key, target in (("org", "org, org_slug"), ("service", "impact.scope"), ("title", "title")):
        if key in first:
            notes.append(Note("mapped", first[key][0], target))
    for key, why in (
        ("authors", "records name no persons"),
        ("status", "an import is always a draft"),
        ("duration", "an interval counts only when begin and end are stated"),
    ):
        if key in first:
            notes.append(Note("dropped", first[key][0], "", why))


def _not_repeated(
    facts: list[tuple[str, str, str]], first: dict[str, tuple[str, str]], notes: list[Note]
) -> None:
    """A label that comes twice counts once; what no other rule spoke of is noted too."""
    spoken = {note.source for note in notes}
    for target, label, value in facts:
        if first[target] != (label, value):
            notes.append(Note("dropped", label, "", f"'{first[target][0]}' says it already"))
        elif label not in spoken:
            notes.append(Note("dropped", label, "", "not needed beside the other dates"))
