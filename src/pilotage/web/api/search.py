"""`/api/v1/search` and `/api/v1/topics`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from pilotage.library.search.engine import Request as SearchRequest
from pilotage.web.api import answers, models
from pilotage.web.api.answering import answer, reader_of
from pilotage.web.api.answers import Reader
from pilotage.web.api.paging import next_link
from pilotage.web.api.queries import SearchAsked, TopicAsked, names

SEARCH_EXTRA = ("facets",)


def add_routes(router: APIRouter) -> None:
    """Adds the routes."""
    router.add_api_route(
        "/search", search, response_model=models.SearchAnswer, summary="Search incidents", tags=["Incidents"]
    )
    router.add_api_route(
        "/topics", topic, response_model=models.Topic, summary="What incidents have in common", tags=["Terms"]
    )


def request_of(reader: Reader, asked: SearchAsked) -> SearchRequest:
    """The search that an address asks for."""
    return SearchRequest(
        text=asked.q,
        filters=asked.filters(reader.catalogue, reader.audience),
        audience=reader.audience,
        lang=reader.lang,
        limit=asked.limit,
        cursor=asked.cursor,
        facets="facets" in names(asked.extra, SEARCH_EXTRA, "extra block"),
    )


def search(request: Request, asked: Annotated[SearchAsked, Query()]) -> Response:
    """Incidents that fit words, a question or a pasted log, best first, each with why it was found.

    When nothing is good enough the answer says so (`no_good_match`) and names terms that the query may mean.
    An empty query lists all records, newest first.
    """
    reader = reader_of(request)
    found = answers.search(reader, request_of(reader, asked))
    return answer(request, found, next_link(request, found))


def topic(request: Request, asked: Annotated[TopicAsked, Query()]) -> Response:
    """What the incidents that bear all of some terms have in common, each count with its base rate.

    Without terms, the whole library.
    """
    reader = reader_of(request)
    filters = asked.filters(reader.catalogue, reader.audience)
    found = answers.topic(reader, filters, limit=asked.limit, cursor=asked.cursor)
    return answer(request, found, next_link(request, found))
