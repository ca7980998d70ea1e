"""Templates that become an HAProxy configuration: Go, Jinja, Consul Template, ERB."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from pilotage.checks.objects import KubeObject, Place, SourceFile
from pilotage.checks.texts import Text
from pilotage.checks.values import KeyPath
from pilotage.core.regex import regex

_MARK = regex(r"\{\{|\{%|<%(?!\[)|<#(?:list|if)\b|^[ \t]*\[\[|^[ \t]*%[ \t]*(?:for|if|end)\b", re.MULTILINE)
_LOOP = regex(
    r"\{\{-?\s*range\b([^}]*)\}\}"
    r"|\{%-?\s*for\b(.*?)%\}"
    r"|<%-?\s*(?:for\b|.*?\.each\b)(.*?)%>"
    r"|\[\[-?\s*range\b([^\]]*)\]\]"
)
_END = regex(r"\{\{-?\s*end\s*-?\}\}|\{%-?\s*endfor\b|<%-?\s*end\b|\[\[-?\s*end\s*-?\]\]")
_OPENS = regex(
    r"(?:\{\{|\[\[)-?\s*(?:if|with|range|block|define)\b|\{%-?\s*for\b|<%-?\s*(?:if|for|unless|.*\bdo\b)"
)
_SERVER = regex(r"^[ \t]*server[ \t]", re.MULTILINE)
_SECTION = regex(r"^[ \t]*(?:backend|listen)[ \t]", re.MULTILINE)


def looks_like_template(text: str) -> bool:
    """Whether it has to be rendered before HAProxy can read it."""
    without_comments = re.sub(r"(?m)^[ \t]*#.*$", "", text)
    return bool(_MARK.search(without_comments))


class Loop(msgspec.Struct, frozen=True):
    """A loop of a template.

    Attributes:
        line: its line in the template.
        over: what it goes over, as written.
        body: what it repeats.
    """

    line: int
    over: str
    body: str

    @property
    def writes_servers(self) -> bool:
        """Whether it writes the servers of one backend (and not a whole backend a turn)."""
        return bool(_SERVER.search(self.body)) and not _SECTION.search(self.body)


class HaproxyTemplate:
    """A configuration that still has to be rendered.

    Args:
        text: the template.
    """

    def __init__(self, text: Text) -> None:
        self.text = text

    @property
    def key(self) -> str:
        """Its name in reports."""
        return f"{self.text.label}HAProxy template"

    @property
    def source(self) -> SourceFile | None:
        """The file."""
        return self.text.commented

    @property
    def holder(self) -> KubeObject | None:
        """The object that holds it."""
        return self.text.holder

    def loops(self) -> Iterator[Loop]:
        """Its loops, outer and inner ones."""
        content = self.text.content
        for found in _LOOP.finditer(content):
            over = " ".join(next((part for part in found.groups() if part), "").split()).strip(" -")
            line = content.count("\n", 0, found.start()) + 1
            yield Loop(line, over, content[found.end() : _end_of(content, found.end())])

    def place(self, path: KeyPath = ()) -> Place:
        """The line that the path gives after the word `line`; else its beginning."""
        line = path[-1] if path and isinstance(path[-1], int) else 1
        return self.text.place(line, part=self.key, path=" ".join(str(part) for part in path[:1]))

    def stable_path(self, path: KeyPath) -> str:
        """The path without line numbers."""
        return "/".join(str(part) for part in path if isinstance(part, str))

    def lines(self, path: KeyPath) -> set[int]:
        """The line of the part."""
        return {self.text.source_line(self.place(path).line - self.text.line + 1 if self.text.line else 1)}


def _end_of(content: str, begin: int) -> int:
    """Where a loop ends whose head ends at `begin`; the end of the text where nothing closes it."""
    depth, at = 1, begin
    while depth:
        end = _END.search(content, at)
        if end is None:
            return len(content)
        depth += len(_OPENS.findall(content, at, end.start())) - 1
        at = end.end()
    return at
