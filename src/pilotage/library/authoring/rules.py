"""The rules of validation: each takes a document and yields what is wrong with it."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, get_args, get_origin

from pydantic import ValidationError

from pilotage.core.text import nearest
from pilotage.library.importers.slugs import Known, unknown_slugs
from pilotage.library.interval import parse_interval
from pilotage.library.record import Part, Record, Text

Path = tuple[str | int, ...]

MAX_LABEL = 60
"""Characters of a mechanism's label; more does not fit into the drawing."""
_NEEDED = {
    "title": "write effect and mechanism, at most 120 characters",
    "summary": "write what ran, what changed, how it spread and what ended it",
    "org": "write who was hit, as they write their name",
    "org_slug": "write the same as a slug, such as google-cloud",
    "date": "write YYYY-MM-DD, and `date_kind`",
    "sources": "name the report: - {url: https://…, kind: blog}",
}
"""What a reviewed record must have, and what its author is told about a record that says nothing."""
_FORMAL = frozenset({"schema_version", "id", "status", "visibility"})
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}(?!\d)")
_OFFER_ALL = 8
_ADVICE = (
    ("negative", "leave it out, or swap begin and end"),
    ("not a day of the calendar", "write an existing date"),
    ("write a whole date", "write for example 2019-01-18"),
    ("ISO 8601", "write for example 2019-01-18T10:00:00Z"),
    ("root_cause must equal", "put the primary cause first in root_causes"),
    ("withdrawn_reason", "add `withdrawn_reason: {en: …, ko: …}`"),
    ("own id", "leave it out of aliases"),
    ("which is no step", "name the id of a step"),
    ("same id", "give each step its own id"),
    ("at most", "shorten it"),
    ("at least", "write a text or leave it out"),
)


@dataclass(frozen=True)
class Finding:
    """A problem at a path of a document."""

    path: Path
    message: str
    instead: str = ""


Rule = Callable[[dict[str, Any], Known, bool], Iterator[Finding]]


def text_list(document: Any, name: str) -> Iterator[tuple[int, str]]:
    """Index and value of the texts in a list of a document of any form."""
    value = document.get(name) if isinstance(document, dict) else None
    for index, item in enumerate(value if isinstance(value, list) else []):
        if isinstance(item, str):
            yield index, item


def _parts(
    value: Any, model: type[Part], path: Path = ()
) -> Iterator[tuple[Path, type[Part], dict[str, Any]]]:
    """Every object of a document that is a part of the record, with its class."""
    if not isinstance(value, dict):
        return
    yield path, model, value
    for key, item in value.items():
        field = model.model_fields.get(key)
        inner, container = _inner(field.annotation) if field else (None, None)
        if inner is None:
            continue
        if container is list and isinstance(item, list):
            for index, entry in enumerate(item):
                yield from _parts(entry, inner, (*path, key, index))
        elif container is dict and isinstance(item, dict):
            for name, entry in item.items():
                yield from _parts(entry, inner, (*path, key, name))
        elif container is None:
            yield from _parts(item, inner, (*path, key))


def _inner(annotation: Any, container: type | None = None) -> tuple[type[Part] | None, type | None]:
    """The part that an annotation speaks of, and whether in a list or by name."""
    if isinstance(annotation, type) and not get_args(annotation):
        return (annotation, container) if issubclass(annotation, Part) else (None, None)
    origin = get_origin(annotation)
    container = origin if origin in {list, dict} else container
    for argument in get_args(annotation):
        found, inside = _inner(argument, container)
        if found is not None:
            return found, inside
    return None, None


def _types(document: dict[str, Any], _known: Known, _strict: bool) -> Iterator[Finding]:
    try:
        Record.model_validate(document)
    except ValidationError as error:
        for item in error.errors():
            yield _type_finding(
                tuple(item["loc"]), item["type"], item["msg"], item.get("ctx", {}), item["input"]
            )


def _type_finding(path: Path, kind: str, message: str, context: dict[str, Any], given: Any) -> Finding:
    if kind == "missing":
        return Finding(path, "is missing", f"add `{path[-1] if path else 'id'}`")
    if kind == "literal_error":
        choices = re.findall(r"'([^']*)'", str(context.get("expected", "")))
        return Finding(
            path, f"{_short(given)} is none of the allowed values", "write one of " + ", ".join(choices)
        )
    if kind == "string_pattern_mismatch":
        return Finding(path, f"{_short(given)} has the wrong form", _pattern_advice(path))
    if kind == "string_type" and isinstance(given, int | float) and not isinstance(given, bool):
        return Finding(path, f"must be a text, found the number {given}", f'put it in quotes: "{given}"')
    plain = message.removeprefix("Value error, ")
    expected = {
        "string_type": "must be a text",
        "list_type": "must be a list",
        "model_type": "must be an object",
        "model_attributes_type": "must be an object",
        "dict_type": "must be an object",
    }.get(kind)
    if expected:
        advice = {"must be a text": "write a text", "must be a list": "write `[…]` or `- …` lines"}
        return Finding(
            path, f"{expected}, found {_kind(given)}", advice.get(expected, "write `key: value` lines")
        )
    instead = next(
        (advice for part, advice in _ADVICE if part in plain), "see `pilotage library new` for the form"
    )
    return Finding(path, plain[:1].lower() + plain[1:] if plain[:1].isupper() else plain, instead)


def _pattern_advice(path: Path) -> str:
    if path[-1:] == ("url",):
        return "write an address that begins with https://"
    if path[:1] == ("mechanism",):
        return "write a short slug of small letters, digits and dashes"
    return "write letters, digits, dots, dashes and underscores, at most 120"


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "nothing"}
    return names.get(
        type(value), f"the number {value}" if isinstance(value, int | float) else "something else"
    )


def _short(value: Any) -> str:
    text = str(value)
    return f"'{text[:40]}…'" if len(text) > 40 else f"'{text}'"  # noqa: PLR2004 - enough to recognise it


def _unknown_keys(document: dict[str, Any], _known: Known, strict: bool) -> Iterator[Finding]:
    if not strict:
        return
    for path, model, value in _parts(document, Record):
        names = list(model.model_fields)
        for key in value:
            if key in names:
                continue
            near = nearest(key, names)
            offer = near or (names if len(names) <= _OFFER_ALL else [])
            instead = "write " + " or ".join(f"`{name}`" for name in offer) if offer else "leave it out"
            yield Finding((*path, key), "unknown key", instead)


def _slugs(document: dict[str, Any], known: Known, _strict: bool) -> Iterator[Finding]:
    for path, slug, near in unknown_slugs(document, known):
        instead = "write " + " or ".join(near) if near else "see `pilotage library vocab`"
        yield Finding(path, f"unknown slug {_short(slug)}", instead)


def _languages(document: dict[str, Any], _known: Known, _strict: bool) -> Iterator[Finding]:
    for path, model, value in _parts(document, Record):
        if model is not Text:
            continue
        en, ko = (_filled(value.get(lang)) for lang in ("en", "ko"))
        if bool(en) != bool(ko):
            missing = "ko" if en else "en"
            yield Finding(path, f"`{missing}` is missing beside the other language", f"write `{missing}`")
        elif en and ko and len(_paragraphs(en)) != len(_paragraphs(ko)):
            counts = f"{len(_paragraphs(en))} paragraphs in en, {len(_paragraphs(ko))} in ko"
            yield Finding(path, counts, "divide both languages alike, with blank lines")
    yield from _phrases(document)


def _phrases(document: dict[str, Any]) -> Iterator[Finding]:
    phrases = document.get("phrases")
    if isinstance(phrases, dict) and bool(phrases.get("en")) != bool(phrases.get("ko")):
        missing = "ko" if phrases.get("en") else "en"
        yield Finding(("phrases",), f"`{missing}` is missing beside the other language", f"write `{missing}`")


def _filled(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _paragraphs(text: str) -> list[str]:
    return [part for part in re.split(r"\n[ \t]*\n", text) if part.strip()]


def _labels(document: dict[str, Any], _known: Known, _strict: bool) -> Iterator[Finding]:
    steps = document.get("mechanism")
    for index, step in enumerate(steps if isinstance(steps, list) else []):
        label = step.get("label") if isinstance(step, dict) else None
        for lang, text in (label if isinstance(label, dict) else {}).items():
            if isinstance(text, str) and len(text) > MAX_LABEL:
                message = f"a label of {len(text)} characters, more than {MAX_LABEL}"
                yield Finding(
                    ("mechanism", index, "label", lang), message, "shorten it; `text` may be longer"
                )


def _intervals(document: dict[str, Any], _known: Known, _strict: bool) -> Iterator[Finding]:
    timeline = document.get("timeline")
    for key, value in (timeline if isinstance(timeline, dict) else {}).items():
        if isinstance(value, str) and key.endswith("_after") and not value.strip().startswith("-"):
            try:
                parse_interval(value)
            except ValueError as error:
                yield Finding(("timeline", key), str(error), "write for example 45s, 9m, 3h 54m or 2d")


def _dates(document: dict[str, Any], _known: Known, _strict: bool) -> Iterator[Finding]:
    """Days that the calendar does not have, where the record's class lets any text pass."""
    events, review = document.get("events"), document.get("review")
    wanted: list[tuple[Path, Any]] = [
        (("events", index, "at"), event.get("at"))
        for index, event in enumerate(events if isinstance(events, list) else [])
        if isinstance(event, dict)
    ]
    if isinstance(review, dict):
        wanted.append((("review", "reviewed_at"), review.get("reviewed_at")))
    for path, value in wanted:
        found = _DAY.match(value) if isinstance(value, str) else None
        if found and not _is_day(found.group()):
            yield Finding(path, f"{found.group()} is not a day of the calendar", "write an existing date")


def _is_day(text: str) -> bool:
    try:
        dt.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _links(document: dict[str, Any], _known: Known, _strict: bool) -> Iterator[Finding]:
    wanted: list[tuple[Path, Any]] = [(("url",), document.get("url"))]
    wanted += [(("docs", index), url) for index, url in text_list(document, "docs")]
    sources = document.get("sources")
    for index, source in enumerate(sources if isinstance(sources, list) else []):
        if isinstance(source, dict):
            wanted += [(("sources", index, key), source.get(key)) for key in ("url", "archived")]
    for path, url in wanted:
        if isinstance(url, str) and not re.match(r"https?://[^\s/]+", url):
            yield Finding(path, f"{_short(url)} is no web address", "write one that begins with https://")


def _related(document: dict[str, Any], _known: Known, _strict: bool) -> Iterator[Finding]:
    reasons = document.get("related_reasons")
    linked = {name for _, name in text_list(document, "related")} | {document.get("recurrence_of")}
    for name in reasons if isinstance(reasons, dict) else {}:
        if name not in linked:
            yield Finding(
                ("related_reasons", name),
                "a reason for a record that is not linked",
                f"add '{name}' to `related`",
            )


def _provenance(document: dict[str, Any], _known: Known, _strict: bool) -> Iterator[Finding]:
    provenance = document.get("provenance")
    sources = document.get("sources")
    count = len(sources) if isinstance(sources, list) else 0
    for name, entry in (provenance if isinstance(provenance, dict) else {}).items():
        path: Path = ("provenance", name)
        if not _names_field(name):
            near = nearest(name.split(".")[0], Record.model_fields)
            instead = "write " + " or ".join(near) if near else "name a field of the record, or `default`"
            yield Finding(path, "names no field of the record", instead)
        number = entry.get("source") if isinstance(entry, dict) else None
        if isinstance(number, int) and not isinstance(number, bool) and number > count:
            message = f"source {number} does not exist, there are {count}"
            yield Finding((*path, "source"), message, "count the sources from 1")


def _names_field(name: str) -> bool:
    first, _, rest = name.partition(".")
    if name == "default":
        return True
    field = Record.model_fields.get(first)
    if field is None:
        return False
    inner, container = _inner(field.annotation)
    return not rest or inner is None or container is not None or rest.split(".")[0] in inner.model_fields


def _needed(document: dict[str, Any], _known: Known, _strict: bool) -> Iterator[Finding]:
    if document.get("status") != "reviewed":
        return
    for name in _NEEDED:
        if not document.get(name):
            yield Finding((name,), "a reviewed record needs it", "fill it in, or set `status: draft`")


def _unfilled(document: dict[str, Any], _known: Known, strict: bool) -> Iterator[Finding]:
    said = (value for key, value in document.items() if key not in _FORMAL)
    if not strict or any(map(_says, said)):
        return
    for name, instead in _NEEDED.items():
        yield Finding((name,), "is still empty, like the rest of the record", instead)


def _says(value: Any) -> bool:
    """Whether anything is stated somewhere in a value; `unknown` is what a skeleton begins with."""
    if isinstance(value, dict):
        return any(map(_says, value.values()))
    if isinstance(value, list):
        return any(map(_says, value))
    return value not in {None, "", "unknown"}


RULES: tuple[Rule, ...] = (
    _types,
    _unknown_keys,
    _slugs,
    _languages,
    _labels,
    _intervals,
    _dates,
    _links,
    _related,
    _provenance,
    _needed,
    _unfilled,
)
"""All rules of one document; those that compare documents are in `validation`."""
