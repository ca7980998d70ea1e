"""The AWS Health Dashboard's `currentevents`: a UTF-16 snapshot without history."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from pilotage.core.errors import InvalidInput
from pilotage.library.decoding.strict_json import read_items
from pilotage.library.importers.fields import Fields, aliases_of, day_of, draft, from_epoch, make_id, text_of
from pilotage.library.importers.google_cloud import in_order
from pilotage.library.importers.model import Candidate, Source
from pilotage.library.importers.sniff import shape_of

_PAGE = "https://health.aws.amazon.com/health/status?eventID="
_SILENT = (
    "summary",
    "trigger",
    "detection",
    "lessons",
    "root_cause",
    "timeline.detected_after",
    "timeline.resolved_after",
)


class AwsEvents:
    """Each event becomes a draft with its log as timeline; the feed states no end."""

    name = "aws-events"
    title = "AWS Health Dashboard snapshot (currentevents, UTF-16)"

    def detects(self, name: str, head: bytes) -> bool:  # noqa: ARG002 - the content decides
        """Whether the first object has an event log and a region or an ARN."""
        keys = shape_of(head).keys
        return "event_log" in keys and bool({"arn", "region_name", "service_name"} & keys)

    def read(self, source: Source) -> Iterator[Candidate]:
        """The events.

        Raises:
            InvalidInput: with file, line and column; an event has neither ARN nor time.
        """
        for item in read_items(source.stream, source.name):
            fields = Fields(item.value, f"{source.name}, event {item.number} (line {item.line})")
            document = _document(fields)
            yield Candidate(document, fields.place, self.name, fields.notes())


def _document(fields: Fields) -> dict[str, Any]:
    arn = fields.text("arn")
    at = from_epoch(fields.raw("date"))
    date = day_of(at)
    upstream = arn.rsplit("/", 1)[-1] if arn else ""
    service, region = fields.text("service_name"), fields.text("region_name")
    if not upstream and not date:
        raise InvalidInput(
            f"{fields.place}: neither arn nor date", hint="Is this the AWS currentevents file?"
        )
    own = make_id("aws", date, upstream or " ".join(filter(None, (service, region))))
    document: dict[str, Any] = {
        "id": own,
        "aliases": aliases_of(upstream, own),
        "org": "AWS",
        "org_slug": "aws",
    }
    silent = list(_SILENT)
    if date:
        document |= {"date": date, "date_kind": "incident", "date_precision": "day"}
        fields.mapped("date", "date")
    else:
        fields.dropped("date", "no time in seconds since 1970")
        silent.append("date")
    title = fields.text("summary")
    if title:
        document["title"] = text_of(title)
        fields.mapped("summary", "title")
    else:
        silent.append("title")
    document["impact"] = {"scope": service or "unknown", "users": "unknown", "region": region or "unknown"}
    for key, target in (("service_name", "impact.scope"), ("region_name", "impact.region")):
        if fields.text(key):
            fields.mapped(key, target)
    document["events"] = _events(fields)
    if arn:
        document["sources"] = [
            {"url": _PAGE + quote(arn, safe=":/", errors="replace"), "kind": "official-status"}
        ]
        fields.mapped("arn", "id, aliases, sources")
    else:
        silent.append("sources")
    return draft(document, silent)


def _events(fields: Fields) -> list[dict[str, Any]]:
    events = []
    for entry in fields.objects("event_log"):
        text = entry.get("message")
        if not isinstance(text, str) or not text.strip():
            fields.dropped("event_log.message", "an entry without text")
            continue
        events.append({"at": from_epoch(entry.get("timestamp")), "text": text_of(text)})
    if events:
        fields.mapped("event_log", "events")
        fields.dropped("event_log.status", "an event has no field for it")
        fields.dropped("event_log.summary", "an event has no field for it")
    return in_order(events)
