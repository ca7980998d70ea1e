"""`/api/v1/vocabulary`, `/api/v1/organisations` and `/api/v1/schema`."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from pilotage.library.schema.generate import record_schema
from pilotage.web.api import answers, models
from pilotage.web.api.answering import answer, moved, reader_of
from pilotage.web.api.describing import MOVED
from pilotage.web.api.paging import next_link
from pilotage.web.api.queries import Asked, PagedAsked, UsedAsked

KindName = Annotated[str, Path(description="Kind of vocabulary.", max_length=200, examples=["components"])]
TermSlug = Annotated[str, Path(description="Slug of a term.", max_length=200, examples=["coredns"])]
OrganisationSlug = Annotated[
    str, Path(description="Slug of an organisation.", max_length=200, examples=["cloudflare"])
]


def add_routes(router: APIRouter) -> None:
    """Adds the routes."""
    shape: dict[str, Any] = {"tags": ["Terms"]}
    router.add_api_route(
        "/vocabulary", vocabulary, response_model=models.Kinds, summary="Kinds of vocabulary", **shape
    )
    router.add_api_route(
        "/vocabulary/{kind}", kind_terms, response_model=models.Terms, summary="Terms of a kind", **shape
    )
    router.add_api_route(
        "/vocabulary/{kind}/{slug}",
        term,
        response_model=models.WholeTerm,
        summary="Read a term",
        responses=MOVED,
        **shape,
    )
    router.add_api_route(
        "/organisations",
        organisations,
        response_model=models.Organisations,
        summary="List organisations",
        **shape,
    )
    router.add_api_route(
        "/organisations/{slug}",
        organisation,
        response_model=models.Organisation,
        summary="Incidents of an organisation",
        **shape,
    )
    router.add_api_route(
        "/schema", schema, response_model=None, summary="JSON Schema of a record", tags=["Feeds"]
    )


def vocabulary(request: Request, asked: Annotated[Asked, Query()]) -> Response:  # noqa: ARG001 - checked by being read
    """The kinds of vocabulary with their versions."""
    return answer(request, answers.vocabulary(reader_of(request)))


def kind_terms(request: Request, kind: KindName, asked: Annotated[UsedAsked, Query()]) -> Response:
    """The terms of a kind: labels, definition, synonyms, number of records."""
    return answer(request, answers.kind_terms(reader_of(request), kind, used=asked.used))


def term(request: Request, kind: KindName, slug: TermSlug, asked: Annotated[Asked, Query()]) -> Response:  # noqa: ARG001 - checked by being read
    """One term, with the terms that stand beside it and its newest cases.

    A deprecated slug leads to the term that took its place.
    """
    found = answers.term(reader_of(request), kind, slug)
    if found["replaced_by"]:
        return moved(request, f"/api/v1/vocabulary/{kind}/{found['replaced_by']}")
    return answer(request, found)


def organisations(request: Request, asked: Annotated[PagedAsked, Query()]) -> Response:
    """The organisations that records name, by slug."""
    found = answers.organisations(reader_of(request), limit=asked.limit, cursor=asked.cursor)
    return answer(request, found, next_link(request, found))


def organisation(request: Request, slug: OrganisationSlug, asked: Annotated[PagedAsked, Query()]) -> Response:
    """One organisation: its incidents, newest first, and their facets."""
    found = answers.organisation(reader_of(request), slug, limit=asked.limit, cursor=asked.cursor)
    return answer(request, found, next_link(request, found["incidents"]))


def schema(asked: Annotated[Asked, Query()]) -> Response:  # noqa: ARG001 - checked by being read
    """The JSON Schema (2020-12) that records follow."""
    return JSONResponse(record_schema(), media_type="application/schema+json")
