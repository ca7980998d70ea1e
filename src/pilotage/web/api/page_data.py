"""Every page of the site under its own address with `.json` behind it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import FastAPI, Path, Query
from starlette.requests import Request
from starlette.responses import Response

from pilotage.library.stores.protocol import Filters
from pilotage.web import checking
from pilotage.web.api import answers, checks
from pilotage.web.api.answering import answer, moved, reader_of
from pilotage.web.api.check_queries import ChecksAsked
from pilotage.web.api.checks import CheckId
from pilotage.web.api.incidents import Id
from pilotage.web.api.paging import next_link
from pilotage.web.api.queries import (
    Asked,
    Chosen,
    CompareAsked,
    IncidentAsked,
    ListAsked,
    Narrowed,
    PagedAsked,
    SearchAsked,
    TopicAsked,
    UsedAsked,
)
from pilotage.web.api.search import SEARCH_EXTRA, request_of
from pilotage.web.api.start import addresses
from pilotage.web.api.words import KindName, OrganisationSlug, TermSlug

_NEWEST = 10
Number = Annotated[int, Path(ge=1, le=1_000_000)]


def add_routes(app: FastAPI) -> None:
    """Adds the addresses. They are the same answers as under `/api/v1`, so they are not described twice."""
    shape: dict[str, Any] = {"include_in_schema": False, "response_model": None}
    for path, endpoint in (
        ("/index.json", index),
        ("/search.json", search),
        ("/incidents.json", incidents),
        ("/incidents/{id}.json", incident),
        ("/incidents/{id}/history/{number}.json", revision),
        ("/topics.json", topic),
        ("/organisations.json", organisations),
        ("/organisations/{slug}.json", organisation),
        ("/vocabulary.json", vocabulary),
        ("/vocabulary/{kind}.json", kind_terms),
        ("/vocabulary/{kind}/{slug}.json", term),
        ("/statistics.json", statistics),
        ("/compare.json", comparison),
        ("/checks.json", all_checks),
        ("/checks/try.json", try_checks),
        ("/checks/{id}.json", check),
        ("/about/api.json", addresses),
    ):
        app.add_api_route(path, endpoint, **shape)


def index(request: Request, asked: Annotated[Asked, Query()]) -> Response:  # noqa: ARG001 - checked by being read
    """The home page: what there is, and the newest incidents."""
    reader = reader_of(request)
    return answer(request, answers.incidents(reader, Filters(), limit=_NEWEST, extra=("facets",)))


def search(request: Request, asked: Annotated[SearchAsked, Query()]) -> Response:
    """The search page, with the counts of its facets."""
    reader = reader_of(request)
    asked = asked.model_copy(update={"extra": asked.extra or SEARCH_EXTRA})
    found = answers.search(reader, request_of(reader, asked))
    return answer(request, found, next_link(request, found))


def incident(request: Request, id: Id, asked: Annotated[IncidentAsked, Query()]) -> Response:  # noqa: A002 - the field's word
    """The page of an incident, with everything on it."""
    extra = asked.extra or answers.INCIDENT_EXTRA
    found = answers.incident(
        reader_of(request), id, fields=asked.fields, extra=extra, revision=asked.revision
    )
    return answer(request, found) if found["id"] == id else moved(request, f"/incidents/{found['id']}.json")


def incidents(request: Request, asked: Annotated[ListAsked, Query()]) -> Response:
    """The list of incidents, with the counts of its facets."""
    reader = reader_of(request)
    filters = asked.filters(reader.catalogue, reader.audience)
    extra = asked.extra or ("facets",)
    found = answers.incidents(
        reader, filters, limit=asked.limit, cursor=asked.cursor, fields=asked.fields, extra=extra
    )
    return answer(request, found, next_link(request, found))


def revision(request: Request, id: Id, number: Number, asked: Annotated[Chosen, Query()]) -> Response:  # noqa: A002 - the field's word
    """The page of an older state of a record."""
    found = answers.incident(reader_of(request), id, fields=asked.fields, revision=number)
    if found["id"] != id:
        return moved(request, f"/incidents/{found['id']}/history/{number}.json")
    return answer(request, found)


def topic(request: Request, asked: Annotated[TopicAsked, Query()]) -> Response:
    """The page of a topic."""
    reader = reader_of(request)
    filters = asked.filters(reader.catalogue, reader.audience)
    found = answers.topic(reader, filters, limit=asked.limit, cursor=asked.cursor)
    return answer(request, found, next_link(request, found))


def organisations(request: Request, asked: Annotated[PagedAsked, Query()]) -> Response:
    """The list of organisations."""
    found = answers.organisations(reader_of(request), limit=asked.limit, cursor=asked.cursor)
    return answer(request, found, next_link(request, found))


def organisation(request: Request, slug: OrganisationSlug, asked: Annotated[PagedAsked, Query()]) -> Response:
    """The page of an organisation."""
    found = answers.organisation(reader_of(request), slug, limit=asked.limit, cursor=asked.cursor)
    return answer(request, found, next_link(request, found["incidents"]))


def vocabulary(request: Request, asked: Annotated[Asked, Query()]) -> Response:  # noqa: ARG001 - checked by being read
    """The kinds of vocabulary."""
    return answer(request, answers.vocabulary(reader_of(request)))


def kind_terms(request: Request, kind: KindName, asked: Annotated[UsedAsked, Query()]) -> Response:
    """The page of a kind of vocabulary."""
    return answer(request, answers.kind_terms(reader_of(request), kind, used=asked.used))


def term(request: Request, kind: KindName, slug: TermSlug, asked: Annotated[Asked, Query()]) -> Response:  # noqa: ARG001 - checked by being read
    """The page of a term."""
    found = answers.term(reader_of(request), kind, slug)
    if found["replaced_by"]:
        return moved(request, f"/vocabulary/{kind}/{found['replaced_by']}.json")
    return answer(request, found)


def statistics(request: Request, asked: Annotated[Narrowed, Query()]) -> Response:
    """The page of statistics, with its heat map of causes and components."""
    reader = reader_of(request)
    filters = asked.filters(reader.catalogue, reader.audience)
    together = answers.matrix(reader, "root_cause", "component", filters, limit=20)
    return answer(request, answers.statistics(reader, filters) | {"matrix": together})


def comparison(request: Request, asked: Annotated[CompareAsked, Query()]) -> Response:
    """The page that compares incidents."""
    return answer(request, answers.comparison(reader_of(request), asked.id))


def all_checks(request: Request, asked: Annotated[ChecksAsked, Query()]) -> Response:
    """The list of checks."""
    found = checks.listed(reader_of(request), asked)
    return answer(request, found, next_link(request, found))


def check(request: Request, id: CheckId, asked: Annotated[Asked, Query()]) -> Response:  # noqa: A002, ARG001 - see above
    """The page of a check."""
    return answer(request, checks.whole(reader_of(request), id))


def try_checks(request: Request, asked: Annotated[Asked, Query()]) -> Response:  # noqa: ARG001 - checked by being read
    """The page that checks a text: where programs send one, and its limits."""
    limits = {
        "bytes": checking.MOST_BYTES,
        "documents": checking.MOST_DOCUMENTS,
        "seconds": checking.MOST_SECONDS,
    }
    return answer(request, {"method": "POST", "run": "/api/v1/checks/run", "limits": limits})
