"""The Markdown of postmortems.app: facts in the front matter, prose below."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pilotage.core.text import kebab
from pilotage.library.decoding.strict_json import decode_text
from pilotage.library.importers.fields import (
    Fields,
    aliases_of,
    day_of,
    draft,
    interval_between,
    make_id,
    moment,
    text_of,
    web_address,
)
from pilotage.library.importers.markdown import read_front_matter
from pilotage.library.importers.model import Candidate, Source
from pilotage.library.importers.sniff import front_matter, shape_of

_SILENT = ("trigger", "detection", "lessons", "root_cause", "timeline.detected_after")
_BEGAN = {"en": "Begin of the incident, as the input states it", "ko": "입력에 적힌 시작 시각"}
_ENDED = {"en": "End of the incident, as the input states it", "ko": "입력에 적힌 종료 시각"}


class PostmortemsApp:
    """One incident a file."""

    name = "postmortems-app"
    title = "postmortems.app Markdown with YAML front matter"

    def detects(self, name: str, head: bytes) -> bool:  # noqa: ARG002 - the content decides
        """Whether the front matter has a uuid and an address, company or categories."""
        found = front_matter(shape_of(head).text)
        if not found:
            return False
        keys = {line.split(":")[0].strip('"') for line in found[0].splitlines() if ":" in line}
        return "uuid" in keys and bool({"company", "categories", "url", "product"} & keys)

    def read(self, source: Source) -> Iterator[Candidate]:
        """The one draft of the file.

        Raises:
            InvalidInput: the text is no UTF-8 or its front matter is no YAML.
        """
        text = decode_text(source.read_all(), source.name).removeprefix("\ufeff").replace("\r\n", "\n")
        fields = Fields(read_front_matter(text, source.name), source.name)
        found = front_matter(text)
        document = _document(fields, (found[1] if found else text).replace("\x00", "").strip())
        yield Candidate(document, source.name, self.name, fields.notes())


def _document(fields: Fields, body: str) -> dict[str, Any]:
    upstream, org, title = fields.text("uuid"), fields.text("company"), fields.text("title")
    document: dict[str, Any] = {"id": "", "aliases": []}
    if org:
        document |= {"org": org, "org_slug": kebab(org) or None}
        fields.mapped("company", "org, org_slug")
    silent = [*_SILENT, *_dates(fields, document)]
    document["id"] = make_id(org or "incident", document.get("date"), upstream or title or fields.place)
    if upstream:
        document["aliases"] = aliases_of(upstream, document["id"])
        fields.mapped("uuid", "id, aliases")
    if title:
        document["title"] = text_of(title)
        fields.mapped("title", "title")
    else:
        silent.append("title")
    parts = [part for part in (fields.text("summary"), body) if part]
    if parts:
        document["summary"] = text_of("\n\n".join(dict.fromkeys(part.strip() for part in parts)))
        fields.mapped("summary" if fields.text("summary") else "text", "summary")
        if body:
            fields.mapped("text", "summary", "written by others: check it against the source")
    else:
        silent.append("summary")
    product = fields.text("product")
    if product:
        document["impact"] = {"scope": product, "users": "unknown", "region": "unknown"}
        fields.mapped("product", "impact.scope")
    for key in ("categories", "keywords"):
        if fields.raw(key):
            fields.dropped(key, "terms of another vocabulary; choose ours by hand")
    silent += _source(fields, document)
    return draft(document, silent)


def _dates(fields: Fields, document: dict[str, Any]) -> list[str]:
    begin, end, published = (
        fields.text("start_time"),
        fields.text("end_time"),
        fields.text("source_published_at"),
    )
    for key, value, kind in (
        ("start_time", begin, "incident"),
        ("source_published_at", published, "published"),
    ):
        day = day_of(value)
        if day:
            document |= {"date": day, "date_kind": kind, "date_precision": "day"}
            fields.mapped(key, "date")
            break
    interval, why = interval_between(begin, end)
    document["timeline"] = {"detected_after": None, "resolved_after": interval}
    events = []
    if moment(begin):
        events.append({"at": begin, "text": dict(_BEGAN)})
        fields.mapped("start_time", "date, events")
    if moment(end):
        events.append({"at": end, "text": dict(_ENDED)})
        fields.mapped("end_time", "timeline.resolved_after, events" if interval else "events", why)
    document["events"] = events
    for key, value in (("start_time", begin), ("end_time", end), ("source_published_at", published)):
        if value and not moment(value):
            fields.dropped(key, "not stated, or no ISO 8601 time")
    if moment(published) and document.get("date_kind") == "incident":
        fields.dropped("source_published_at", "the date of the incident is kept instead")
    return [*(() if interval else ("timeline.resolved_after",)), *(() if "date" in document else ("date",))]


def _source(fields: Fields, document: dict[str, Any]) -> list[str]:
    url, archived = web_address(fields.text("url")), web_address(fields.text("archive_url"))
    if not url:
        if fields.text("url"):
            fields.dropped("url", "no http address")
        return ["sources"]
    document["sources"] = [{"url": url, "kind": "other"} | ({"archived": archived} if archived else {})]
    fields.mapped("url", "sources", "the kind of the source is not stated; choose it by hand")
    if archived:
        fields.mapped("archive_url", "sources.archived")
    return []
