"""`/api/v1/changes`, `/api/v1/feed.atom` and `/api/v1/export`: the library for other systems."""

from __future__ import annotations

import re
import tempfile
import threading
from collections.abc import Iterator
from typing import Annotated, Any, BinaryIO, cast
from xml.etree import ElementTree as ET

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from pilotage.core.errors import StoreBusy
from pilotage.core.text import printable
from pilotage.library.exporters.table import exporter_named
from pilotage.library.stores.protocol import Filters
from pilotage.web.api import models
from pilotage.web.api.answering import answer, reader_of
from pilotage.web.api.changes import changes_after, event_of
from pilotage.web.api.describing import BYTES, FEED
from pilotage.web.api.queries import Asked, ChangesAsked, ExportAsked
from pilotage.web.doors import doors_of

ENTRIES = 50
"""Number of records in the Atom feed."""
_NOT_XML = re.compile("[\ufffe\uffff]")
"""What XML 1.0 has no character for, beside what `printable` takes away."""
_ATOM = "http://www.w3.org/2005/Atom"
_BEGINNING = "1970-01-01T00:00:00+00:00"
_IN_MEMORY_BYTES = 4 * 1024 * 1024
_CHUNK_BYTES = 64 * 1024
_MOST_AT_ONCE = 2
_MAKING = threading.BoundedSemaphore(_MOST_AT_ONCE)
_FORMS = {
    "incident-json": ("application/json", "json"),
    "jsonl": ("application/jsonl", "jsonl"),
    "csv": ("text/csv; charset=utf-8", "csv"),
    "sqlite": ("application/vnd.sqlite3", "db"),
    "zip": ("application/zip", "zip"),
}


def add_routes(router: APIRouter) -> None:
    """Adds the routes."""
    shape: dict[str, Any] = {"tags": ["Feeds"]}
    router.add_api_route(
        "/changes", changes, response_model=models.Changes, summary="What changed since a cursor", **shape
    )
    router.add_api_route(
        "/feed.atom",
        feed,
        response_class=Response,
        responses=FEED,
        summary="Atom feed of the latest changes",
        **shape,
    )
    router.add_api_route(
        "/export",
        export,
        response_class=Response,
        responses=BYTES,
        summary="All records in one file",
        **shape,
    )


def changes(request: Request, asked: Annotated[ChangesAsked, Query()]) -> Response:
    """The delta feed, oldest change first: pass `next` as `since` to go on where the last answer ended."""
    reader = reader_of(request)
    found = changes_after(reader.catalogue.store, asked.since, reader.audience, limit=asked.limit)
    return answer(request, found)


def feed(request: Request, asked: Annotated[Asked, Query()]) -> Response:  # noqa: ARG001 - checked by being read
    """The records that changed last, newest first (RFC 4287)."""
    reader = reader_of(request)
    latest = reader.catalogue.store.changes(reader.audience, limit=ENTRIES, latest=True)
    stored = reader.catalogue.store.get([entry.id for entry in latest], reader.audience)
    base = doors_of(request).settings.web.base_url.rstrip("/") or str(request.base_url).rstrip("/")
    root = ET.Element("feed", {"xmlns": _ATOM, "xml:lang": reader.lang})
    _add(root, "id", "urn:pilotage:feed")
    _add(root, "title", "Pilotage: 장애 사례" if reader.lang == "ko" else "Pilotage: incidents")
    _add(root, "updated", latest[0].stored_at if latest else _BEGINNING)
    ET.SubElement(root, "link", {"rel": "self", "href": f"{base}{request.url.path}"})
    ET.SubElement(root, "link", {"rel": "alternate", "href": f"{base}/"})
    for entry in latest:
        if entry.id not in stored:
            continue
        document = stored[entry.id].document
        item = ET.SubElement(root, "entry")
        _add(item, "id", f"urn:pilotage:incident:{entry.id}")
        _add(item, "title", _text(document.get("title"), reader.lang) or entry.id)
        _add(item, "updated", entry.stored_at)
        ET.SubElement(item, "link", {"rel": "alternate", "href": f"{base}/incidents/{entry.id}"})
        _add(ET.SubElement(item, "author"), "name", document.get("org") or "Pilotage")
        _add(item, "summary", _text(document.get("summary"), reader.lang))
        ET.SubElement(item, "category", {"term": event_of(entry)})
    return Response(
        ET.tostring(root, encoding="utf-8", xml_declaration=True), media_type="application/atom+xml"
    )


def export(request: Request, asked: Annotated[ExportAsked, Query()]) -> Response:
    """All records, or those that bear all the given terms, in one file.

    It is made whole before the first byte goes out: a slow reader holds no transaction open, and a failing
    store gives an error, not half a file.
    """
    exporter = exporter_named(asked.format)
    reader = reader_of(request)
    filters = Filters(all_of=asked.filters(reader.catalogue, reader.audience).all_of, withdrawn=True)
    if not _MAKING.acquire(blocking=False):
        raise StoreBusy("other exports are being made", hint="Try again in a few seconds.")
    made = tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES)  # noqa: SIM115 - closed when its last byte is out
    try:
        exporter.write(reader.catalogue.store.iterate(filters, reader.audience), cast("BinaryIO", made))
        size = made.tell()
        made.seek(0)
    except BaseException:
        made.close()
        raise
    finally:
        _MAKING.release()
    media_type, ending = _FORMS[exporter.name]
    headers = {
        "Content-Length": str(size),
        "Content-Disposition": f'attachment; filename="incidents.{ending}"',
    }
    return StreamingResponse(_chunks(cast("BinaryIO", made)), headers=headers, media_type=media_type)


def _chunks(made: BinaryIO) -> Iterator[bytes]:
    with made:
        while chunk := made.read(_CHUNK_BYTES):
            yield chunk


def _add(parent: ET.Element, name: str, text: str) -> None:
    ET.SubElement(parent, name).text = _NOT_XML.sub("", printable(text))


def _text(text: dict[str, str | None] | None, lang: str) -> str:
    found = text or {}
    return found.get(lang) or found.get("en") or found.get("ko") or ""
