"""A configuration text and where it stands: a file of its own, or a value of a ConfigMap."""

from __future__ import annotations

import msgspec

from pilotage.checks.objects import KubeObject, Place, SourceFile
from pilotage.checks.values import KeyPath, dotted


class Text(msgspec.Struct, frozen=True, eq=False):
    """A text that is parsed as a configuration, and the way from its lines to places.

    Attributes:
        content: the text itself.
        source: the file that it stands in; None for a live object.
        holder: the object that holds it; None where it is a file of its own.
        path: the way to it inside of the holder.
        line: the line of the source at which it begins; 0 where its lines are not those of the source.
        column: the column of the source at which each of its lines begins.
        notes: where a live object's text is looked through for comments that ignore a check.
    """

    content: str
    source: SourceFile | None = None
    holder: KubeObject | None = None
    path: KeyPath = ()
    line: int = 1
    column: int = 1
    notes: SourceFile | None = None

    @property
    def commented(self) -> SourceFile | None:
        """Where comments on it stand: its source, or the text itself for a live object."""
        return self.source or self.notes

    @property
    def identity(self) -> tuple[str, str]:
        """What tells two texts apart."""
        return self.source.name if self.source is not None else "", self.label + self.name

    @property
    def name(self) -> str:
        """Its name: that of the file, or the key under which the holder keeps it."""
        if self.holder is not None and self.path:
            return str(self.path[-1])
        return self.source.name if self.source is not None else ""

    @property
    def label(self) -> str:
        """What stands before the keys of its parts, so that they name the holder; empty for a file."""
        return f"{self.holder.key} {self.name}: " if self.holder is not None else ""

    def place(self, line: int, column: int = 1, *, part: str = "", path: str = "") -> Place:
        """Where a part of it stands.

        Args:
            line: line within the text, from 1.
            column: column within the text, from 1.
            part: key of the part.
            path: the way to the value within the part.
        """
        if self.source is not None and self.line:
            at = self.source.place(self.line + line - 1, self.column + column - 1)
            return msgspec.structs.replace(at, object=part, path=path)
        if self.holder is None:
            return Place(object=part, path=path)
        around = self.holder.place(self.path)
        inner = " ".join(word for word in (f"line {line}", path) if word)
        return Place(around.file, around.line, around.column, part, f"{dotted(self.path)} {inner}")

    def source_line(self, line: int) -> int:
        """The line of the source for a line of the text; that of the value where lines do not correspond."""
        if self.line:
            return self.line + line - 1
        return self.holder.place(self.path).line if self.holder is not None else 0


def text_of_file(file: SourceFile) -> Text:
    """A file that is a configuration, with every kind of line end as a newline."""
    return Text(file.text.replace("\r\n", "\n").replace("\r", "\n"), file)


def text_of_value(holder: KubeObject, path: KeyPath, content: str) -> Text:
    """A configuration that is a value of an object.

    Args:
        holder: the object.
        path: the way to the value.
        content: the value.
    """
    if holder.document is None:
        return Text(content, None, holder, path, notes=SourceFile(f"{holder.key} {dotted(path)}", content))
    begin = holder.document.literal_begin((*holder.prefix, *path))
    if begin is None:
        return Text(content, holder.source, holder, path, line=0, column=0)
    # Leading blanks of the first line belong to the value when the block states its own indentation.
    first = next((line for line in content.split("\n") if line.strip()), "")
    own = len(first) - len(first.lstrip(" "))
    return Text(content, holder.source, holder, path, begin.line, begin.column - own)
