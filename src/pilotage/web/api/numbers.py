"""`/api/v1/statistics`."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from pilotage.core.errors import InvalidInput
from pilotage.web.api import answers, models
from pilotage.web.api.answering import answer, reader_of
from pilotage.web.api.queries import MatrixAsked, Narrowed


def add_routes(router: APIRouter) -> None:
    """Adds the routes."""
    shape: dict[str, Any] = {"tags": ["Numbers"]}
    router.add_api_route(
        "/statistics", statistics, response_model=models.Statistics, summary="The library in numbers", **shape
    )
    router.add_api_route(
        "/statistics/matrix",
        matrix,
        response_model=models.Matrix,
        summary="Terms that stand together",
        **shape,
    )


def statistics(request: Request, asked: Annotated[Narrowed, Query()]) -> Response:
    """Counts by facet and year, how long things took, and how much is stated at all.

    Durations are distributions over the records that state them. Withdrawn records are left out.
    """
    reader = reader_of(request)
    return answer(request, answers.statistics(reader, asked.filters(reader.catalogue, reader.audience)))


def matrix(request: Request, asked: Annotated[MatrixAsked, Query()]) -> Response:
    """How often the terms of two facets stand together in one record."""
    reader = reader_of(request)
    filters = asked.filters(reader.catalogue, reader.audience)
    if len(asked.by) != 2:  # noqa: PLR2004 - rows and columns
        raise InvalidInput(
            f"{len(asked.by)} facets make no matrix", hint="Give two: by=component&by=root_cause."
        )
    first, second = asked.by
    return answer(request, answers.matrix(reader, first, second, filters, limit=asked.limit))
