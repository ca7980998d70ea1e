"""Statuspage v2 feeds, `api/v2/incidents.json`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pilotage.core.errors import InvalidInput
from pilotage.core.text import kebab
from pilotage.library.decoding.strict_json import loads
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
from pilotage.library.importers.google_cloud import in_order
from pilotage.library.importers.model import Candidate, Note, Source
from pilotage.library.importers.sniff import shape_of

_SEVERITIES = frozenset({"none", "minor", "major", "critical"})
_SILENT = ("trigger", "detection", "lessons", "root_cause", "timeline.detected_after")
_RESOLVED = {"en": "Resolved, as the status page states it", "ko": "상태 페이지에 적힌 해결 시각"}
_STARTED = {"en": "Start of the incident, as the status page states it", "ko": "상태 페이지에 적힌 시작 시각"}


class Statuspage:
    """Each incident becomes a draft with its updates as timeline."""

    name = "statuspage"
    title = "Statuspage v2 feed (incidents.json)"

    def detects(self, name: str, head: bytes) -> bool:  # noqa: ARG002 - the content decides
        """Whether the object has a list of incidents and a page, or incidents with updates."""
        shape = shape_of(head)
        if shape.kind != "object" or "incidents" not in shape.keys:
            return False
        return "page" in shape.keys or "incident_updates" in shape.incident_keys

    def read(self, source: Source) -> Iterator[Candidate]:
        """The incidents.

        Raises:
            InvalidInput: with file, line and column; the file has no list of incidents, or one has no id.
        """
        feed = Fields(loads(source.read_all(), source.name), source.name)
        if not isinstance(feed.raw("incidents"), list):
            raise InvalidInput(
                f"{source.name}: no list 'incidents'", hint="Is this a Statuspage v2 incidents.json?"
            )
        page = Fields(feed.raw("page") if isinstance(feed.raw("page"), dict) else {}, source.name, "page.")
        org, home = page.text("name"), web_address(page.text("url"))
        if org:
            page.mapped("name", "org, org_slug")
        if home:
            page.mapped("url", "sources")
        shared = page.notes()
        for number, value in enumerate(feed.raw("incidents"), start=1):
            fields = Fields(value, f"{source.name}, incident {number}")
            document = _document(fields, org, home)
            yield Candidate(document, fields.place, self.name, _unique(shared + fields.notes()))


def _unique(notes: tuple[Note, ...]) -> tuple[Note, ...]:
    return tuple(dict.fromkeys(notes))


def _document(fields: Fields, org: str | None, home: str | None) -> dict[str, Any]:
    upstream = fields.text("id")
    if upstream is None:
        raise InvalidInput(f"{fields.place}: no id", hint="Is this a Statuspage v2 incidents.json?")
    document: dict[str, Any] = {}
    started, created = fields.text("started_at"), fields.text("created_at")
    date = day_of(started) or day_of(created)
    document["id"] = make_id(org or "incident", date, upstream)
    document["aliases"] = aliases_of(upstream, document["id"])
    fields.mapped("id", "id, aliases")
    document |= {"org": org, "org_slug": (kebab(org) or None) if org else None}
    if date:
        kind = "incident" if day_of(started) else "published"
        document |= {"date": date, "date_kind": kind, "date_precision": "day"}
        fields.mapped("started_at" if day_of(started) else "created_at", "date")
    title = fields.text("name")
    if title:
        document["title"] = text_of(title)
        fields.mapped("name", "title")
    silent = [*_SILENT, *(name for name in ("title", "date") if name not in document)]
    silent += _summary(fields, document)
    _impact(fields, document)
    document["events"] = _events(fields)
    silent += _timeline(fields, document)
    silent += _links(fields, document, home, upstream)
    return draft(document, silent)


def _summary(fields: Fields, document: dict[str, Any]) -> list[str]:
    body = fields.text("postmortem_body")
    if body is None:
        return ["summary"]
    document["summary"] = text_of(body)
    fields.mapped("postmortem_body", "summary", "the whole post-mortem; divide it by hand")
    return []


def _impact(fields: Fields, document: dict[str, Any]) -> None:
    impact = fields.text("impact")
    if impact in _SEVERITIES:
        document["severity"] = impact
        fields.mapped("impact", "severity")
    elif impact:
        fields.unknown_slug("impact", "severity", f"'{impact}' is no severity: none, minor, major, critical")
    names = [c["name"] for c in fields.objects("components") if isinstance(c.get("name"), str)]
    if names:
        fields.mapped("components", "impact.scope")
    document["impact"] = {"scope": ", ".join(names) or "unknown", "users": "unknown", "region": "unknown"}


def _events(fields: Fields) -> list[dict[str, Any]]:
    events = []
    for update in fields.objects("incident_updates"):
        body, at = update.get("body"), update.get("display_at") or update.get("created_at")
        if not isinstance(body, str) or not body.strip():
            fields.dropped("incident_updates.body", "an update without text")
            continue
        events.append({"at": at if isinstance(at, str) else None, "text": text_of(body)})
    if events:
        fields.mapped("incident_updates", "events")
        for key in ("status", "affected_components", "updated_at"):
            fields.dropped(f"incident_updates.{key}", "an event has no field for it")
    started, resolved = fields.text("started_at"), fields.text("resolved_at")
    if moment(started):
        events.insert(0, {"at": started, "text": dict(_STARTED)})
    if moment(resolved) and (moment(started) is None or interval_between(started, resolved)[0]):
        events.append({"at": resolved, "text": dict(_RESOLVED)})
        fields.mapped("resolved_at", "events")
    return in_order(events)


def _timeline(fields: Fields, document: dict[str, Any]) -> list[str]:
    resolved = fields.text("resolved_at")
    interval, why = interval_between(fields.text("started_at"), resolved)
    document["timeline"] = {"detected_after": None, "resolved_after": interval}
    if interval:
        fields.mapped("resolved_at", "timeline.resolved_after")
        return []
    if resolved:
        fields.dropped("resolved_at", f"no timeline.resolved_after: {why}")
    return ["timeline.resolved_after"]


def _links(fields: Fields, document: dict[str, Any], home: str | None, upstream: str) -> list[str]:
    updated = fields.text("updated_at")
    if moment(updated):
        document["updated_at"] = updated
        fields.mapped("updated_at", "updated_at")
    short = web_address(fields.text("shortlink"))
    url = f"{home.rstrip('/')}/incidents/{upstream}" if home else short
    if url is None:
        return ["sources"]
    document["sources"] = [{"url": url, "kind": "official-status"}]
    if url == short:
        fields.mapped("shortlink", "sources")
    elif short:
        fields.dropped("shortlink", "the page's own address of the incident is kept instead")
    return []
