"""A post-mortem in Markdown, divided: title, labelled facts, sections, list items, tables.

Not a Markdown renderer: it keeps the text as it is written and only finds where the parts begin.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from pilotage.library.importers.headings import label_for, section_for

_ATX = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
_UNDERLINE = re.compile(r"^ {0,3}(=+|-{3,})[ \t]*$")
_BOLD_LINE = re.compile(r"^\*\*([^*]{1,60})\*\*[ \t]*:?[ \t]*$")
_LABEL = re.compile(r"^[-*+]?[ \t]*(?:\*\*|__)([^*_]{1,40}?)[ \t]*:?(?:\*\*|__)[ \t]*[:：]?[ \t]*(\S.*)$")
_PLAIN_LABEL = re.compile(r"^[-*+]?[ \t]*([^\W\d_][^:：|*`]{0,39})[:：][ \t]+(\S.*)$")
_FENCE = re.compile(r"^ {0,3}(```|~~~)")
_ITEM = re.compile(r"^[ \t]{0,3}(?:[-*+•]|\d{1,3}[.)])[ \t]+(.*)$")
_CHECKBOX = re.compile(r"^\[([ xX])\][ \t]+")
_ROW = re.compile(r"^[ \t]*\|(.*)\|?[ \t]*$")
_RULER = re.compile(r"^[\s|:\-]+$")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


@dataclass
class Section:
    """A heading with the text under it.

    Attributes:
        heading: as written.
        target: where it belongs (a key of `SECTIONS`), nothing when the heading is unknown.
        level: 1 to 6; 7 for a bold line or label that acts as a heading.
        lines: the text.
    """

    heading: str
    target: str | None
    level: int
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text without blank lines around it."""
        return "\n".join(self.lines).strip()


@dataclass
class Parts:
    """What a Markdown text holds.

    Attributes:
        title: the first heading of the first level.
        facts: target (a key of `LABELS`), label as written, value.
        preface: the text before the first section.
        sections: the others in their order.
    """

    title: str | None = None
    facts: list[tuple[str, str, str]] = field(default_factory=list)
    preface: Section = field(default_factory=lambda: Section("", None, 0))
    sections: list[Section] = field(default_factory=list)


def divide(text: str) -> Parts:
    """The parts of a Markdown text."""
    parts = Parts()
    current = parts.preface
    fenced = False
    lines = _COMMENT.sub("", text).splitlines()
    skip = False
    for number, line in enumerate(lines):
        if skip:
            skip = False
            continue
        if _FENCE.match(line):
            fenced = not fenced
        heading = None if fenced else _heading(line, lines[number + 1] if number + 1 < len(lines) else "")
        if heading is not None:
            name, level, skip = heading
            current = _begin(parts, current, name, level)
        elif fenced or not _fact(parts, current, line):
            current = _label_section(parts, current, line) if not fenced else _append(current, line)
    return parts


def _append(section: Section, line: str) -> Section:
    section.lines.append(line)
    return section


def _heading(line: str, below: str) -> tuple[str, int, bool] | None:
    """Name, level and whether the next line belongs to it."""
    atx = _ATX.match(line)
    if atx:
        return atx.group(2), len(atx.group(1)), False
    underline = _UNDERLINE.match(below)
    if underline and line.strip() and not line.lstrip().startswith(("|", "-", "*", ">", "#")):
        return line.strip(), 1 if underline.group(1).startswith("=") else 2, True
    bold = _BOLD_LINE.match(line)
    if bold and section_for(bold.group(1)):
        return bold.group(1), 7, False
    return None


def _begin(parts: Parts, current: Section, name: str, level: int) -> Section:
    target = section_for(name)
    if parts.title is None and level == 1 and target is None:
        parts.title = name.strip(" *_") or None
        return current
    if target is None and current.target and level > current.level:
        return _append(current, name)
    section = Section(name, target, level)
    parts.sections.append(section)
    return section


def _fact(parts: Parts, current: Section, line: str) -> bool:
    """Whether the line is a labelled fact; it is then noted."""
    if current.target is not None:
        return False
    row = cells_of(line)
    if row is not None and len(row) == len(("label", "value")):
        name, value = row[0].strip("* _"), row[1]
    else:
        found = _LABEL.match(line) or _PLAIN_LABEL.match(line)
        if not found:
            return False
        name, value = found.group(1), found.group(2).strip()
    target = label_for(name)
    if target is None or not value.strip():
        return False
    parts.facts.append((target, name.strip(), value.strip()))
    return True


def _label_section(parts: Parts, current: Section, line: str) -> Section:
    """A line `**Impact**: text` begins a section of its own where it stands outside of another."""
    if current.target is None or current.level > 6:  # noqa: PLR2004 - a label's section ends at the next label
        found = _LABEL.match(line) or _PLAIN_LABEL.match(line)
        target = section_for(found.group(1)) if found else None
        if found and target:
            section = Section(found.group(1), target, 7, [found.group(2)])
            parts.sections.append(section)
            return section
    return _append(current, line)


def cells_of(line: str) -> list[str] | None:
    """The cells of a table row, empty for its ruler; nothing when the line is no row."""
    found = _ROW.match(line)
    if not found:
        return None
    if _RULER.match(line):
        return []
    return [cell.strip() for cell in found.group(1).rstrip().removesuffix("|").split("|")]


@dataclass(frozen=True)
class ListItem:
    """An item of a list or a row of a table.

    Attributes:
        text: the item, or the first column.
        cells: the row by its column heads, in lower case; empty for a list.
        done: what its check box says, if it has one.
    """

    text: str
    cells: dict[str, str] = field(default_factory=dict)
    done: bool | None = None


def items_of(section: Section) -> list[ListItem]:
    """The rows of the table or the items of the list in a section; else its paragraphs."""
    rows = [cells for line in section.lines if (cells := cells_of(line)) is not None]
    if len([row for row in rows if row]) > 1:
        return list(_rows(rows))
    if any(_ITEM.match(line) for line in section.lines):
        return [_item(text) for text in _list_texts(section.lines)]
    return [ListItem(text) for text in paragraphs(section.text)]


def _rows(rows: list[list[str]]) -> Iterator[ListItem]:
    filled = [row for row in rows if row]
    heads = [head.strip("*_ ").lower() for head in filled[0]]
    for row in filled[1:]:
        cells = {head: cell for head, cell in zip(heads, row, strict=False) if cell}
        if cells:
            yield ListItem(row[0], cells)


def _list_texts(lines: list[str]) -> list[str]:
    """The items; a line that begins none continues the one above it."""
    texts: list[str] = []
    for line in lines:
        found = _ITEM.match(line)
        if found:
            texts.append(found.group(1).strip())
        elif line.strip():
            if texts:
                texts[-1] = f"{texts[-1]}\n{line.strip()}"
            else:
                texts.append(line.strip())
    return [text for text in texts if text]


def _item(text: str) -> ListItem:
    box = _CHECKBOX.match(text)
    if not box:
        return ListItem(text)
    return ListItem(text[box.end() :], done=box.group(1) != " ")


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text: blank lines lie between them."""
    return [part.strip() for part in re.split(r"\n[ \t]*\n", text) if part.strip()]
