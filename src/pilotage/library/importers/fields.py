"""Reading foreign objects field by field, with a note for each field, and building drafts from them."""

from __future__ import annotations

import datetime as dt
import hashlib
import re
import unicodedata
from collections.abc import Iterable
from typing import Any

from pilotage.core.errors import InvalidInput
from pilotage.core.text import kebab, kind_of, normalise
from pilotage.library.importers.model import Note
from pilotage.library.interval import format_interval
from pilotage.library.record import ID_PATTERN, complete

_MAX_ID = 120
_DIGEST = 8
_HANGUL = re.compile(r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7ff]")
_LATIN = re.compile(r"[A-Za-z]")
_NO_PLACE = "the record has no field for it"
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


class Fields:
    """A foreign object; remembers what became of each of its fields."""

    def __init__(self, value: Any, place: str, prefix: str = "") -> None:
        if not isinstance(value, dict):
            raise InvalidInput(
                f"{place}: expected an object, found {kind_of(value)}",
                hint="Check that the file is of the format that was asked for.",
            )
        self._value: dict[str, Any] = value
        self._prefix = prefix
        self._notes: list[Note] = []
        self._seen: set[str] = set()
        self.place = place

    def text(self, key: str) -> str | None:
        """A text; nothing when it is absent, empty or of another type (which is noted)."""
        value = self._value.get(key)
        if isinstance(value, str) and value.strip():
            return value
        if value not in (None, "") and not isinstance(value, str):
            self.dropped(key, f"expected a text, found {kind_of(value)}")
        return None

    def objects(self, key: str) -> list[dict[str, Any]]:
        """The objects of a list; other things in it are noted."""
        value = self._value.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            self.dropped(key, f"expected a list, found {kind_of(value)}")
            return []
        found = [item for item in value if isinstance(item, dict)]
        if len(found) < len(value):
            self.dropped(key, f"{len(value) - len(found)} items are no objects")
        return found

    def raw(self, key: str) -> Any:
        """The value as it is."""
        return self._value.get(key)

    def mapped(self, key: str, target: str, why: str = "") -> None:
        """Note that the field went into the record."""
        self._add(Note("mapped", self._prefix + key, target, why))

    def dropped(self, key: str, why: str) -> None:
        """Note that the field, or a part of it, did not."""
        self._add(Note("dropped", self._prefix + key, "", why))

    def unknown_slug(self, key: str, target: str, why: str) -> None:
        """Note that the field's value is no term of the vocabulary."""
        self._add(Note("unknown-slug", self._prefix + key, target, why))

    def _add(self, note: Note) -> None:
        if note not in self._notes:
            self._notes.append(note)
        self._seen.add(note.source.removeprefix(self._prefix))

    def notes(self) -> tuple[Note, ...]:
        """The notes of all fields; those that nobody asked for are noted as dropped."""
        for key, value in self._value.items():
            if key not in self._seen:
                self.dropped(key, "empty" if value in (None, "", [], {}) else _NO_PLACE)
        return tuple(self._notes)


def text_of(value: str) -> dict[str, str | None]:
    """A text of one language, under `ko` when it is mostly Hangul (a syllable counts as two letters)."""
    korean = 2 * len(_HANGUL.findall(value)) > len(_LATIN.findall(value))
    return {"en": None, "ko": value} if korean else {"en": value, "ko": None}


def moment(value: str | None) -> dt.datetime | None:
    """An ISO 8601 time, or nothing; the year 1, with which some programs say "no time", counts as nothing."""
    if not value:
        return None
    try:
        found = dt.datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    return found if found.year > 1 else None


def day_of(value: str | None) -> str | None:
    """The day of an ISO 8601 time, as it is written there, in its own zone."""
    if moment(value) is None or value is None:
        return None
    found = _DAY.match(value.strip())
    return found.group() if found else None


def from_epoch(value: Any) -> str | None:
    """Seconds (or milliseconds) since 1970 as an ISO 8601 time in UTC, or nothing."""
    try:
        number = float(value)
        number = number / 1000 if number > 1e11 else number  # noqa: PLR2004 - the year 5138 in seconds
        return dt.datetime.fromtimestamp(number, dt.UTC).isoformat().replace("+00:00", "Z")
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def interval_between(begin: str | None, end: str | None) -> tuple[str | None, str]:
    """The stated interval, or nothing and why not."""
    first, last = moment(begin), moment(end)
    if first is None or last is None:
        return None, "both ends must be stated"
    if (first.tzinfo is None) != (last.tzinfo is None):
        return None, "one of the times has a zone, the other has none"
    seconds = (last - first).total_seconds()
    if seconds < 0:
        return None, "the end lies before the begin, so the interval is negative"
    return format_interval(seconds), ""


def _ascii_slug(text: str) -> str:
    """The slug in ASCII letters; what other letters it had stays told apart by a short digest."""
    slug = kebab(text)
    plain = "".join(c for c in unicodedata.normalize("NFD", slug) if c.isascii())
    plain = re.sub(r"-{2,}", "-", plain).strip("-")
    if plain == slug:
        return plain
    digest = hashlib.sha256(normalise(text).encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    return f"{plain}-{digest}" if plain else digest


def make_id(*parts: str | None) -> str:
    """A stable id of the parts that there are, at most 120 characters."""
    given = [text for text in parts if text]
    slug = "-".join(part for part in map(_ascii_slug, given) if part)
    if not any(re.search("[a-z]", kebab(text)) for text in given):
        # Digits and digests alone tell nobody what the id is of.
        slug = f"incident-{slug}".rstrip("-")
    if len(slug) <= _MAX_ID:
        return slug
    digest = hashlib.sha256(slug.encode()).hexdigest()[:_DIGEST]
    return f"{slug[: _MAX_ID - _DIGEST - 1].rstrip('-')}-{digest}"


def aliases_of(upstream: str, own: str) -> list[str]:
    """The upstream id as an alias, where it can be one."""
    return [upstream] if re.fullmatch(ID_PATTERN, upstream) and upstream != own else []


def web_address(value: str | None) -> str | None:
    """The value when it is an http or https address."""
    return value if value and re.match(r"https?://[^\s/]", value) else None


def draft(document: dict[str, Any], not_stated: Iterable[str] = ()) -> dict[str, Any]:
    """A complete draft record; the fields that the input has no word on say so in their provenance."""
    provenance: dict[str, Any] = {}
    if document.get("sources"):
        provenance["default"] = {"state": "stated", "source": 1}
    for name in not_stated:
        provenance[name] = {"state": "not_stated"}
    head = {"id": document["id"], "schema_version": 1, "status": "draft"}
    return complete(head | document | {"provenance": provenance})
