"""Google Cloud's status feed, `incidents.json`; the Workspace feed has the same form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pilotage.core.errors import InvalidInput
from pilotage.library.decoding.strict_json import read_items
from pilotage.library.importers.fields import (
    Fields,
    aliases_of,
    day_of,
    draft,
    interval_between,
    make_id,
    moment,
    text_of,
)
from pilotage.library.importers.model import Candidate, Source
from pilotage.library.importers.sniff import shape_of

_TELLING = frozenset(
    {"external_desc", "most_recent_update", "status_impact", "affected_products", "service_key"}
)
_ENOUGH = 3
_CLOUD = ("Google Cloud", "google-cloud", "https://status.cloud.google.com/")
_WORKSPACE = ("Google Workspace", "google-workspace", "https://www.google.com/appsstatus/dashboard/")
_BEGAN = {"en": "Begin of the incident, as the status page states it", "ko": "상태 페이지에 적힌 시작 시각"}
_ENDED = {"en": "End of the incident, as the status page states it", "ko": "상태 페이지에 적힌 종료 시각"}
_SILENT = ("summary", "trigger", "detection", "lessons", "root_cause", "timeline.detected_after")


class GoogleCloud:
    """Each incident becomes a draft with its updates as timeline."""

    name = "google-cloud"
    title = "Google Cloud or Workspace status feed (incidents.json)"

    def detects(self, name: str, head: bytes) -> bool:  # noqa: ARG002 - the content decides
        """Whether the first object has the keys of the feed."""
        return len(_TELLING & shape_of(head).keys) >= _ENOUGH

    def read(self, source: Source) -> Iterator[Candidate]:
        """The incidents, in constant memory.

        Raises:
            InvalidInput: with file, line and column; an item has no id.
        """
        workspace = "workspace" in source.name.lower() or "appsstatus" in source.name.lower()
        for item in read_items(source.stream, source.name):
            fields = Fields(item.value, f"{source.name}, incident {item.number} (line {item.line})")
            document = _document(fields, *(_WORKSPACE if workspace else _CLOUD))
            yield Candidate(document, fields.place, self.name, fields.notes())


def _document(fields: Fields, org: str, slug: str, base: str) -> dict[str, Any]:
    upstream = fields.text("id")
    if upstream is None:
        raise InvalidInput(f"{fields.place}: no id", hint="Is this Google's incidents.json?")
    begin = fields.text("begin")
    date = day_of(begin)
    document: dict[str, Any] = {"id": make_id(slug, date, upstream), "org": org, "org_slug": slug}
    document["aliases"] = aliases_of(upstream, document["id"])
    fields.mapped("id", "id, aliases")
    if date:
        document |= {"date": date, "date_kind": "incident", "date_precision": "day"}
        fields.mapped("begin", "date, events")
    elif begin:
        fields.dropped("begin", "no ISO 8601 time")
    title = fields.text("external_desc")
    if title:
        document["title"] = text_of(title)
        fields.mapped("external_desc", "title")
    document["impact"] = _impact(fields)
    document["events"] = _events(fields)
    silent = [
        *_SILENT,
        *_timeline(fields, document),
        *(() if title else ("title",)),
        *(() if date else ("date",)),
    ]
    _links(fields, document, base, upstream)
    return draft(document, silent)


def _impact(fields: Fields) -> dict[str, str]:
    products = [p["title"] for p in fields.objects("affected_products") if isinstance(p.get("title"), str)]
    if products:
        fields.mapped("affected_products", "impact.scope")
    service = fields.text("service_name")
    if service and not products:
        products = [service]
        fields.mapped("service_name", "impact.scope")
    places: list[str] = []
    for key in ("currently_affected_locations", "previously_affected_locations"):
        found = [p["title"] for p in fields.objects(key) if isinstance(p.get("title"), str)]
        if found:
            fields.mapped(key, "impact.region")
        places += found
    severity = fields.text("severity")
    if severity:
        fields.unknown_slug(
            "severity", "severity", f"the feed's scale ('{severity}') is not ours; choose by hand"
        )
    return {
        "scope": ", ".join(products) or "unknown",
        "users": "unknown",
        "region": ", ".join(dict.fromkeys(places)) or "unknown",
    }


def _events(fields: Fields) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    begin, end = fields.text("begin"), fields.text("end")
    if moment(begin):
        events.append({"at": begin, "text": dict(_BEGAN)})
    updates = []
    for update in fields.objects("updates"):
        text, when = update.get("text"), update.get("when") or update.get("created")
        if not isinstance(text, str) or not text.strip():
            fields.dropped("updates.text", "an update without text")
            continue
        updates.append({"at": when if isinstance(when, str) else None, "text": text_of(text)})
    if updates:
        fields.mapped("updates", "events")
        for key in ("status", "modified", "affected_locations"):
            fields.dropped(f"updates.{key}", "an event has no field for it")
    events += updates
    if moment(end) and (moment(begin) is None or interval_between(begin, end)[0]):
        events.append({"at": end, "text": dict(_ENDED)})
    if fields.raw("most_recent_update") is not None:
        fields.dropped("most_recent_update", "it is the last of the updates")
    return in_order(events)


def in_order(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The events from first to last; as they came when not all of their times can be compared."""
    times = [moment(event["at"]) for event in events]
    known = [time for time in times if time is not None]
    if len(known) == len(events) and len({time.tzinfo is None for time in known}) <= 1:
        return [event for _, event in sorted(zip(known, events, strict=True), key=lambda pair: pair[0])]
    return events


def _timeline(fields: Fields, document: dict[str, Any]) -> list[str]:
    begin, end = fields.text("begin"), fields.text("end")
    interval, why = interval_between(begin, end)
    document["timeline"] = {"detected_after": None, "resolved_after": interval}
    if interval:
        fields.mapped("end", "timeline.resolved_after, events")
        return []
    if end:
        fields.dropped("end", why)
    return ["timeline.resolved_after"]


def _links(fields: Fields, document: dict[str, Any], base: str, upstream: str) -> None:
    uri = (fields.text("uri") or f"incidents/{upstream}").lstrip("/")
    url = uri if uri.startswith(("http://", "https://")) else base + uri
    document["sources"] = [{"url": url, "kind": "official-status"}]
    fields.mapped("uri", "sources")
    modified = fields.text("modified")
    if moment(modified):
        document["updated_at"] = modified
        fields.mapped("modified", "updated_at")
