"""`/api/v1/incidents`: the list, one record, what is related to it, its history."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from starlette.requests import Request
from starlette.responses import Response

from pilotage.web.api import answers, models
from pilotage.web.api.answering import answer, moved, reader_of
from pilotage.web.api.describing import MOVED
from pilotage.web.api.paging import next_link
from pilotage.web.api.queries import Asked, IncidentAsked, ListAsked, RelatedAsked

Id = Annotated[
    str,
    Path(
        description="Id of a record, or an id that it had before.",
        max_length=200,
        examples=["skyscanner-2019-04-23-haproxy-ingress-hot-podding"],
    ),
]
_AT = "/api/v1/incidents"


def add_routes(router: APIRouter) -> None:
    """Adds the routes."""
    shape: dict[str, Any] = {"tags": ["Incidents"]}
    router.add_api_route(
        "/incidents", incidents, response_model=models.Incidents, summary="List incidents", **shape
    )
    one: dict[str, Any] = shape | {"responses": MOVED}
    router.add_api_route(
        "/incidents/{id}", incident, response_model=models.Incident, summary="Read an incident", **one
    )
    router.add_api_route(
        "/incidents/{id}/related",
        related,
        response_model=models.Related,
        summary="Related incidents, with reasons",
        **one,
    )
    router.add_api_route(
        "/incidents/{id}/history",
        history,
        response_model=models.History,
        summary="Revisions of a record",
        **one,
    )


def incidents(request: Request, asked: Annotated[ListAsked, Query()]) -> Response:
    """Incidents that bear all the given terms, newest first. Withdrawn ones only with `status=withdrawn`."""
    reader = reader_of(request)
    found = answers.incidents(
        reader,
        asked.filters(reader.catalogue, reader.audience),
        limit=asked.limit,
        cursor=asked.cursor,
        fields=asked.fields,
        extra=asked.extra,
    )
    return answer(request, found, next_link(request, found))


def incident(request: Request, id: Id, asked: Annotated[IncidentAsked, Query()]) -> Response:  # noqa: A002 - the field's word
    """One record as it was imported, with its revision.

    A former id leads to the one in force; a withdrawn record still answers and says why it was withdrawn.
    """
    found = answers.incident(
        reader_of(request), id, fields=asked.fields, extra=asked.extra, revision=asked.revision
    )
    return answer(request, found) if found["id"] == id else moved(request, f"{_AT}/{found['id']}")


def related(request: Request, id: Id, asked: Annotated[RelatedAsked, Query()]) -> Response:  # noqa: A002 - the field's word
    """Incidents like this one.

    Every hit says what it shares with it, how much each reason weighs, and where that can be checked.
    """
    found = answers.related(reader_of(request), id, limit=asked.limit, cursor=asked.cursor)
    if found["id"] != id:
        return moved(request, f"{_AT}/{found['id']}/related")
    return answer(request, found, next_link(request, found))


def history(request: Request, id: Id, asked: Annotated[Asked, Query()]) -> Response:  # noqa: A002, ARG001 - see above
    """The states that a record has had, newest first, and which keys each changed.

    `?revision=` of the record reads one.
    """
    found = answers.history(reader_of(request), id)
    return answer(request, found) if found["id"] == id else moved(request, f"{_AT}/{found['id']}/history")
