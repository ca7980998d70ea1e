"""JSON as it should have been: one meaning for each text, or an error that says where.

The json module accepts much that no other reader would read the same way: duplicate keys (the last one
wins), `NaN`, lone surrogates. Here all of these are refused with file, line and column. The fast path is the
C scanner; the slow tokeniser of `json_places` runs only to say where a mistake stands. Large files are read
item by item, in constant memory.
"""

from __future__ import annotations

import codecs
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Never

from pilotage.core.errors import InvalidInput
from pilotage.library.decoding.json_places import complaint, first_duplicate, line_column, places

MAX_DEPTH = 200
"""How deeply lists and objects may lie within each other."""
MAX_ITEM_BYTES = 16 * 1024 * 1024
"""The largest line of JSON Lines, element of a list or single object of a stream."""
_CHUNK = 256 * 1024
_TAIL = 16
_SUSPECT = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_PLAIN_JSON = "Write plain JSON (RFC 8259) in UTF-8; `python -m json.tool FILE` finds most mistakes."
_NO_NUMBER = "Write null for a number that is not known, or the number as a text in quotes."
_SPLIT = "Split it, or check that a line break or a bracket is not missing."


class _DuplicateError(ValueError):
    """An object holds a key twice."""


class _ConstantError(ValueError):
    """A number that JSON does not have."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _DuplicateError
    return found


def _constant(text: str) -> Never:
    raise _ConstantError(text)


def _float(text: str) -> float:
    value = float(text)
    if value in {float("inf"), float("-inf")}:
        raise _ConstantError(text)
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_float=_float)


@dataclass(frozen=True)
class Item:
    """One value of a stream.

    Attributes:
        value: the decoded JSON value.
        number: its number in the file, counted from 1.
        line: the line on which it begins, counted from 1.
    """

    value: Any
    number: int
    line: int


@dataclass(frozen=True)
class _At:
    """Where in a file a piece of text begins."""

    name: str
    line: int = 1
    column: int = 1


def encoding_of(head: bytes) -> str:
    """The encoding of a text that begins so: UTF-16 by its byte order mark or its NULs, else UTF-8."""
    if head.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    first = head[:2]
    if len(first) == len(codecs.BOM_UTF16_LE):
        if first[1] == 0 and first[0] != 0:
            return "utf-16-le"
        if first[0] == 0 and first[1] != 0:
            return "utf-16-be"
    return "utf-8"


def decode_text(data: bytes, name: str) -> str:
    """The text of a file: UTF-8, with or without a byte order mark, or UTF-16.

    Raises:
        InvalidInput: the bytes are no such text; the message names line and byte.
    """
    encoding = encoding_of(data)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        # The codec cuts a byte order mark off before it counts.
        raise _not_text(name, error, base=len(data) - len(error.object)) from error


def _not_text(name: str, error: UnicodeDecodeError, *, line: int = 1, base: int = 0) -> InvalidInput:
    """An error at a byte; what was decoded begins on this line, behind so many bytes of the file."""
    label = "UTF-8" if error.encoding.startswith("utf-8") else "UTF-16"
    before = error.object[: error.start]
    line += before.count(b"\n")
    column = len(before[before.rfind(b"\n") + 1 :].decode(error.encoding, "ignore")) + 1
    return InvalidInput(
        f"{name}:{line}:{column}: byte {base + error.start + 1} is not {label} ({error.reason})",
        hint="Save the file as UTF-8; an editor or `iconv -t UTF-8` converts it.",
    )


def parse(text: str, name: str, *, first_line: int = 1) -> Any:
    """The value of a JSON text.

    Args:
        text: the whole text.
        name: the file, for messages.
        first_line: the line of the file on which the text begins.

    Raises:
        InvalidInput: with file, line and column.
    """
    at = _At(name, first_line)
    try:
        value, end = _DECODER.raw_decode(text, _skip_space(text, 0))
    except (ValueError, RecursionError) as error:
        raise _explain(error, text, at) from error
    rest = _skip_space(text, end)
    if rest < len(text):
        raise _problem(at, text, rest, "there is text behind the end of the JSON value")
    _check(value, text, at)
    return value


def loads(data: bytes, name: str) -> Any:
    """The value of a JSON file.

    Raises:
        InvalidInput: with file, line and column.
    """
    return parse(decode_text(data, name), name)


def locate(text: str, path: tuple[str | int, ...]) -> tuple[int, int]:
    """Line and column of a key or list item in a JSON text, or of the nearest parent that is there."""
    return line_column(text, _offset(text, path))


def _offset(text: str, path: tuple[str | int, ...]) -> int:
    found: dict[tuple[str | int, ...], int] = {place.path: place.offset for place in places(text)}
    while path and path not in found:
        path = path[:-1]
    return found.get(path, 0)


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position


def _place_of(at: _At, text: str, offset: int) -> str:
    """File, line and column of an offset in a text that begins there."""
    line, column = line_column(text, offset)
    return f"{at.name}:{line + at.line - 1}:{column + (at.column - 1 if line == 1 else 0)}"


def _problem(at: _At, text: str, offset: int, what: str, hint: str = _PLAIN_JSON) -> InvalidInput:
    return InvalidInput(f"{_place_of(at, text, offset)}: {what}", hint=hint)


def _explain(error: Exception, text: str, at: _At) -> InvalidInput:
    """What the C scanner stumbled over, in words and with its place."""
    if isinstance(error, json.JSONDecodeError):
        if not text.strip():
            return _problem(at, text, 0, "there is no JSON here")
        return _problem(at, text, error.pos, complaint(error))
    if isinstance(error, RecursionError):
        return _too_deep(text, at)
    if isinstance(error, _DuplicateError):
        place = first_duplicate(text)
        key = place.path[-1] if place else ""
        offset = place.offset if place else 0
        return _problem(at, text, offset, f"duplicate key '{key}'", "Keep one of the two.")
    if isinstance(error, _ConstantError):
        number = str(error)
        offset = _outside_strings(text, number)
        return _problem(at, text, offset, f"{number[:40]} is no JSON number", _NO_NUMBER)
    return _problem(at, text, 0, "a number has too many digits")


def _outside_strings(text: str, word: str) -> int:
    """Where a word stands in a JSON text, strings excepted."""
    for match in re.finditer(r'"(?:[^"\\]|\\.)*"|' + re.escape(word), text):
        if match.group() == word:
            return match.start()
    return 0


def _too_deep(text: str, at: _At) -> InvalidInput:
    offset = next((place.offset for place in places(text) if len(place.path) > MAX_DEPTH), 0)
    return InvalidInput(
        f"{_place_of(at, text, offset)}: nested more than {MAX_DEPTH} levels deep",
        hint="An incident needs fewer than ten levels; this is not one.",
    )


def _check(value: Any, text: str, at: _At) -> None:
    """Refuse what the scanner lets pass; the walk runs only where the text gives reason to suspect it."""
    if text.count("[") + text.count("{") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        raise _too_deep(text, at)
    if _SUSPECT.search(text) or "\x00" in text:
        bad = _bad_string(value)
        if bad:
            path, what = bad
            raise InvalidInput(
                f"{_place_of(at, text, _offset(text, path))}: {dotted(path) or 'the value'} holds {what}",
                hint="Remove the character; no text needs it.",
            )


def _depth(value: Any) -> int:
    deepest = 0
    stack = [(value, 1)]
    while stack:
        item, level = stack.pop()
        if isinstance(item, dict | list):
            deepest = max(deepest, level)
            stack += [(child, level + 1) for child in (item.values() if isinstance(item, dict) else item)]
    return deepest


def _bad_string(value: Any) -> tuple[tuple[str | int, ...], str] | None:
    """Path and name of the first lone surrogate or NUL character, in keys too."""
    stack: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    while stack:
        path, item = stack.pop()
        if isinstance(item, str):
            if "\x00" in item:
                return path, "a NUL character (\\u0000)"
            if _SURROGATE.search(item):
                return path, "half a character (a lone surrogate)"
        elif isinstance(item, dict):
            bad = next((key for key in item if "\x00" in key or _SURROGATE.search(key)), None)
            if bad is not None:
                return path, f"the key {json.dumps(bad)} with a NUL character or a lone surrogate"
            stack += [((*path, key), child) for key, child in reversed(item.items())]
        elif isinstance(item, list):
            stack += [((*path, index), child) for index, child in reversed(list(enumerate(item)))]
    return None


def dotted(path: tuple[str | int, ...]) -> str:
    """A path as people write it: `events.3.text.en`."""
    return ".".join(str(part) for part in path)


def read_items(stream: BinaryIO, name: str) -> Iterator[Item]:
    """The items of a JSON list, the objects of JSON Lines, or a single object, one at a time.

    Args:
        stream: read from its beginning to its end, once.
        name: the file, for messages.

    Raises:
        InvalidInput: with file, line and column; items before the mistake were handed on.
    """
    head = stream.read(_CHUNK)
    encoding = encoding_of(head)
    if encoding.startswith("utf-16"):
        head = decode_text(head + _read_limited(stream, name), name).encode()
        stream = io.BytesIO()
    text = head.removeprefix(codecs.BOM_UTF8)
    base = len(head) - len(text)
    if text.lstrip(b" \t\r\n").startswith(b"["):
        yield from _read_list(_Text(text, stream, name, base))
    else:
        yield from _read_lines(io.BufferedReader(Joined(text, stream)), name, base)


def _read_limited(stream: BinaryIO, name: str) -> bytes:
    data = stream.read(4 * MAX_ITEM_BYTES + 1)
    if len(data) > 4 * MAX_ITEM_BYTES:
        raise InvalidInput(
            f"{name}: a UTF-16 file of more than {4 * MAX_ITEM_BYTES // 2**20} MiB",
            hint="Convert it first: `iconv -f UTF-16 -t UTF-8 FILE`.",
        )
    return data


class Joined(io.RawIOBase):
    """Bytes that were read already, and the stream they came from."""

    def __init__(self, head: bytes, stream: BinaryIO) -> None:
        super().__init__()
        self._head = memoryview(head)
        self._stream = stream

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """First what was read already, then the stream."""
        if self._head:
            data: bytes | memoryview = self._head[: len(buffer)]
            self._head = self._head[len(buffer) :]
        else:
            data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _read_lines(stream: io.BufferedReader, name: str, base: int) -> Iterator[Item]:
    """JSON Lines; when the first line is no whole value, the stream is one object over several lines."""
    number = line = 0
    while data := stream.readline(MAX_ITEM_BYTES + 1):
        line += 1
        if len(data) > MAX_ITEM_BYTES:
            raise _too_long(f"{name}:{line}:1", "a line")
        if not data.strip():
            base += len(data)
            continue
        text = _decode_line(data, name, line, base)
        if number == 0 and _is_partial(text):
            yield _read_single(stream, data, name, line, base)
            return
        base += len(data)
        number += 1
        yield Item(parse(text, name, first_line=line), number, line)


def _decode_line(data: bytes, name: str, line: int, base: int) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise _not_text(name, error, line=line, base=base) from error


def _is_partial(text: str) -> bool:
    """Whether the line begins a JSON value that it does not end."""
    try:
        _DECODER.raw_decode(text, _skip_space(text, 0))
    except json.JSONDecodeError as error:
        return _incomplete(error, text.rstrip("\r\n"))
    except (ValueError, RecursionError):
        return False
    return False


def _incomplete(error: json.JSONDecodeError, text: str) -> bool:
    """Whether more text could heal the mistake: it stands at the very end, or a string is still open."""
    return error.pos >= len(text) - _TAIL or error.msg.startswith("Unterminated string")


def _read_single(stream: io.BufferedReader, head: bytes, name: str, line: int, base: int) -> Item:
    data = head + stream.read(MAX_ITEM_BYTES + 1)
    if len(data) > MAX_ITEM_BYTES:
        raise _too_long(f"{name}:{line}:1", "an object")
    return Item(parse(_decode_line(data, name, line, base), name, first_line=line), 1, line)


def _too_long(place: str, what: str) -> InvalidInput:
    return InvalidInput(f"{place}: {what} of more than {MAX_ITEM_BYTES // 2**20} MiB", hint=_SPLIT)


class _Text:
    """A window of decoded text that moves along a stream and knows on which line it stands."""

    def __init__(self, head: bytes, stream: BinaryIO, name: str, base: int) -> None:
        self.name = name
        self.text = ""
        self.position = 0
        self.line = 1
        self.base = 0
        self.ended = False
        self._counted = 0
        self._lines = 1
        self._bytes = base
        self._head = head
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def more(self, size: int = _CHUNK) -> None:
        """Drop what was consumed and read on."""
        data = self._head or self._stream.read(size)
        self._head = b""
        self.ended = not data
        try:
            text = self._decoder.decode(data, final=self.ended)
        except UnicodeDecodeError as error:
            base = self._bytes - (len(error.object) - len(data))
            raise _not_text(self.name, error, line=self._lines, base=base) from error
        self._bytes += len(data)
        self._lines += text.count("\n")
        here = self.here()
        self.base = here.column - 1
        self.text = self.text[self.position :] + text
        self.position = self._counted = 0

    def line_here(self) -> int:
        """The line of the file on which the position stands."""
        self.line += self.text.count("\n", self._counted, self.position)
        self._counted = self.position
        return self.line

    def next_sign(self) -> str:
        """The next character that is no white space, not consumed; nothing at the end."""
        while True:
            self.position = _skip_space(self.text, self.position)
            if self.position < len(self.text):
                return self.text[self.position]
            if self.ended:
                return ""
            self.more()

    def here(self) -> _At:
        """The position in the file."""
        begin = self.text.rfind("\n", 0, self.position) + 1
        column = self.position - begin + 1 + (0 if begin else self.base)
        return _At(self.name, self.line_here(), column)

    def problem(self, what: str) -> InvalidInput:
        """An error at the position."""
        return _problem(self.here(), "", 0, what)


def _read_list(window: _Text) -> Iterator[Item]:
    """The elements of a list, decoded as their text arrives."""
    window.next_sign()
    window.position += 1
    number = 0
    if window.next_sign() == "]":
        window.position += 1
    else:
        while True:
            number += 1
            line = window.line_here() if window.next_sign() else window.line
            yield Item(_element(window), number, line)
            sign = window.next_sign()
            if sign not in {",", "]"}:
                what = "expected ',' or ']' here" if sign else "the list does not end: the file is cut off"
                raise window.problem(what)
            window.position += 1
            if sign == "]":
                break
    if window.next_sign():
        raise window.problem("there is text behind the end of the list")


def _element(window: _Text) -> Any:
    size = _CHUNK
    while True:
        start = window.position
        try:
            value, end = _DECODER.raw_decode(window.text, start)
        except json.JSONDecodeError as error:
            if window.ended or not _incomplete(error, window.text):
                raise _explain_in_window(error, window) from error
        except (ValueError, RecursionError) as error:
            raise _explain_in_window(error, window) from error
        else:
            if end < len(window.text) or window.ended:
                _check(value, window.text[start:end], window.here())
                window.position = end
                return value
        if len(window.text) - start > MAX_ITEM_BYTES:
            raise _too_long(f"{window.name}:{window.line_here()}:1", "an element of the list")
        window.more(size)
        size *= 2


def _explain_in_window(error: Exception, window: _Text) -> InvalidInput:
    text = window.text[window.position :]
    if isinstance(error, json.JSONDecodeError):
        at_end = error.pos >= len(window.text.rstrip()) or error.msg.startswith("Unterminated string")
        if window.ended and at_end:
            return _problem(
                window.here(), text, len(text.rstrip()), "the list does not end: the file is cut off"
            )
        return _problem(window.here(), text, error.pos - window.position, complaint(error))
    return _explain(error, text, window.here())
