"""Opaque cursors: where a list goes on. One form for every list, on every door.

A cursor carries all that is needed, so any replica continues from it, and it stays right while records are
added. There are two kinds of lists, and so two things that it can carry:

* A list whose order lies in the items themselves (a date and an id, a severity and a name) goes on behind the
  *place* of the last item seen. What is added later takes its own place; nobody else's moves.
* A *ranked* list has no such places: scores rest on statistics of the whole library, so that one new record
  moves all the others, over the limit of what is shown, too. Its cursor carries the *rest* of the list as it
  was when it began: four bytes of a digest for each item that is still to come. So every hit of the first
  answer comes exactly once, in the order of the first answer, whatever came in between; what was added later
  is found by asking anew. A replica that only has the ids of its store can tell which they are.

In front stand a checksum, which tells a cursor from what was cut or mistyped, and a digest of the question:
a cursor that is passed on with another question is refused, since it would skip and repeat items silently.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from pilotage.core.errors import InvalidInput

LONGEST = 5_000
"""Longest cursor in characters: that of a ranked list with all of its candidates still to come."""
_DIGEST = 4
_SEEN = 4

Question = tuple[object, ...]
"""What was asked, by which list: whatever makes another list when it differs."""
Key = tuple[str, ...]
"""What a list is ordered by, ascending."""
_Item = TypeVar("_Item")


class Onward(Protocol):
    """Where a list goes on behind a part of it."""

    @property
    def seen(self) -> int:
        """Number of items before this part."""

    @property
    def next(self) -> str | None:
        """The cursor of what follows; None at the end."""

    def after(self, count: int) -> str | None:
        """The cursor behind the first so many items of this part, at least one; None at the end."""


@dataclass(frozen=True)
class Place:
    """Where a part of an ordered list begins.

    Attributes:
        seen: number of items before it.
        key: of the last of them; None at the beginning of the list.
    """

    seen: int = 0
    key: Key | None = None


@dataclass(frozen=True)
class Part:
    """A part of an ordered list.

    Attributes:
        question: what was asked.
        seen: number of items before this part.
        keys: of its items.
        more: whether items follow it.
    """

    question: Question = ()
    seen: int = 0
    keys: tuple[Key, ...] = ()
    more: bool = False

    @property
    def next(self) -> str | None:
        """See `Onward.next`."""
        return self.after(len(self.keys))

    def after(self, count: int) -> str | None:
        """See `Onward.after`."""
        if count >= len(self.keys) and not self.more:
            return None
        body = json.dumps(self.keys[count - 1], ensure_ascii=False, separators=(",", ":"))
        return _sealed(self.seen + count, body.encode(), self.question)


@dataclass(frozen=True)
class Walk:
    """A part of a ranked list and all that follows it.

    Attributes:
        question: what was asked.
        seen: number of items before this part.
        ids: of its items and of all that follow, in order.
        size: number of items of this part.
    """

    question: Question
    seen: int
    ids: tuple[str, ...]
    size: int

    @property
    def next(self) -> str | None:
        """See `Onward.next`."""
        return self.after(self.size)

    def after(self, count: int) -> str | None:
        """See `Onward.after`."""
        rest = self.ids[count:]
        return _sealed(self.seen + count, b"".join(map(_digest, rest)), self.question) if rest else None


@dataclass(frozen=True)
class Rest:
    """What of a ranked list is still to come.

    Attributes:
        seen: number of items that came.
        digests: of the ids of those to come, in order.
    """

    seen: int
    digests: tuple[bytes, ...]

    def among(self, ids: Iterable[str]) -> list[str]:
        """Those of the ids that are still to come, in order."""
        known = {_digest(id_): id_ for id_ in ids}
        return [known[digest] for digest in self.digests if digest in known]


@dataclass(frozen=True)
class Cut(Generic[_Item]):
    """A part of a list that lay in memory whole.

    Attributes:
        total: number of items of the whole list.
        items: those of this part.
        onward: where the list goes on.
    """

    total: int
    items: list[_Item]
    onward: Part


def read_place(cursor: str | None, size: int, question: Question) -> Place:
    """Where an ordered list goes on.

    Args:
        cursor: as it came; nothing for the beginning.
        size: number of values in a key of this list.
        question: what is asked now.

    Raises:
        InvalidInput: the cursor is none, or belongs to another question.
    """
    if not cursor:
        return Place()
    seen, body = _opened(cursor, question)
    try:
        value: Any = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    if not (isinstance(value, list) and len(value) == size and all(map(_is_text, value))):
        raise _broken(cursor)
    return Place(seen, tuple(value))


def read_rest(cursor: str | None, question: Question) -> Rest | None:
    """What of a ranked list is still to come; None at its beginning.

    Raises:
        InvalidInput: see `read_place`.
    """
    if not cursor:
        return None
    seen, body = _opened(cursor, question)
    if not body or len(body) % _DIGEST:
        raise _broken(cursor)
    return Rest(seen, tuple(body[at : at + _DIGEST] for at in range(0, len(body), _DIGEST)))


def cut(  # noqa: PLR0913 - a list, its order, its part and its question
    items: Sequence[_Item],
    key: Callable[[_Item], Key],
    *,
    size: int,
    limit: int,
    cursor: str | None,
    question: Question,
) -> Cut[_Item]:
    """A part of a list that is in memory whole, ordered by `key`.

    Raises:
        InvalidInput: see `read_place`.
    """
    place = read_place(cursor, size, question)
    left = [item for item in items if place.key is None or key(item) > place.key]
    shown = left[:limit]
    return Cut(len(items), shown, Part(question, place.seen, tuple(map(key, shown)), len(left) > limit))


def _digest(id_: str) -> bytes:
    return hashlib.blake2b(id_.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).digest()


def _mark(question: Question) -> bytes:
    return _digest(json.dumps(question, ensure_ascii=True, default=str))


def _sealed(seen: int, body: bytes, question: Question) -> str:
    told = _mark(question) + seen.to_bytes(_SEEN, "big") + body
    check = hashlib.blake2b(told, digest_size=_DIGEST).digest()
    return base64.urlsafe_b64encode(check + told).decode().rstrip("=")


def _opened(cursor: str, question: Question) -> tuple[int, bytes]:
    try:
        # The stricter decoder: the other one passes over whatever it does not know.
        value = base64.b64decode(cursor.encode() + b"=" * (-len(cursor) % 4), b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise _broken(cursor) from None
    check, told = value[:_DIGEST], value[_DIGEST:]
    if hashlib.blake2b(told, digest_size=_DIGEST).digest() != check or len(told) < _DIGEST + _SEEN:
        raise _broken(cursor)
    if told[:_DIGEST] != _mark(question):
        raise InvalidInput(
            "the cursor belongs to another question",
            hint="Ask as you did when you got it, or leave it out to begin anew.",
        )
    return int.from_bytes(told[_DIGEST : _DIGEST + _SEEN], "big"), told[_DIGEST + _SEEN :]


def _broken(cursor: str) -> InvalidInput:
    return InvalidInput(
        f"'{cursor[:40]}' is no cursor", hint="Pass `next` on as it came, or leave it out to begin anew."
    )


def _is_text(value: object) -> bool:
    # A lone surrogate or a null character would be refused by a store, in its own words.
    return isinstance(value, str) and "\0" not in value and value == value.encode("utf-8", "replace").decode()
