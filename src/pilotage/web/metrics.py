"""What the server tells of itself: Prometheus metrics, an access log; no id, query or token is in either."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import structlog
from fastapi import FastAPI
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pilotage.library.catalogue import Catalogue
from pilotage.library.stores.protocol import Filters
from pilotage.web.doors import doors_of

MULTIPROCESS = "PROMETHEUS_MULTIPROC_DIR"
"""Variable of prometheus_client: the folder in which the worker processes add up their numbers."""
_METHODS = frozenset({"GET", "HEAD", "POST", "OPTIONS", "PUT", "DELETE", "PATCH"})
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_LOG = structlog.get_logger()


class Library:
    """Number of records and data version, as the public sees them."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Asks the store when Prometheus asks."""
        store = self._catalogue.store
        yield GaugeMetricFamily(
            "pilotage_records", "Number of public records.", store.count(Filters(), "public")
        )
        version = store.data_version("public")
        yield GaugeMetricFamily("pilotage_data_version", "Data version of the public records.", version)
        semantic = self._catalogue.searcher.semantic
        covered = len(semantic.index("public").ids) if semantic is not None else 0
        yield GaugeMetricFamily(
            "pilotage_records_with_vectors", "Public records that are also searched by meaning.", covered
        )


class Meters:
    """The counters of one process; with several, of all of them."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        labels = ["route", "method", "status"]
        self._requests = Counter(
            "pilotage_http_requests", "Requests by route template.", labels, registry=self._registry
        )
        self._seconds = Histogram(
            "pilotage_http_request_seconds",
            "Time from request to the end of the answer.",
            ["route"],
            buckets=_SECONDS,
            registry=self._registry,
        )

    def count(self, route: str, method: str, status: int, seconds: float) -> None:
        """Counts one request."""
        self._requests.labels(route, method if method in _METHODS else "other", str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def text(self, catalogue: Catalogue) -> bytes:
        """Everything in Prometheus' text format.

        Raises:
            StoreError, Unreachable: the store does not answer.
        """
        registry = CollectorRegistry()
        registry.register(Library(catalogue))
        if os.environ.get(MULTIPROCESS):
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
            return generate_latest(registry)
        return generate_latest(self._registry) + generate_latest(registry)


class Watching:
    """The outermost middleware: counts and logs every request once its answer is out."""

    def __init__(self, app: ASGIApp, meters: Meters) -> None:
        self.app = app
        self._meters = meters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = time.perf_counter()
        method = scope["method"]
        status = 0

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])
            await send(message)

        try:
            await self.app(scope, receive, watched)
        finally:
            spent = time.perf_counter() - started
            route = _route(scope)
            self._meters.count(route, method, status, spent)
            _LOG.info("request", route=route, method=method, status=status, ms=round(spent * 1000, 1))


def _route(scope: Scope) -> str:
    found = getattr(scope.get("route"), "path", None)
    if found:
        return str(found)
    # The route of the MCP SDK leaves no template behind; one that was met has an endpoint and no parameter.
    return str(scope["path"]) if "endpoint" in scope and not scope.get("path_params") else "none"


def install_metrics(app: FastAPI) -> None:
    """Adds `/metrics`."""
    app.add_api_route("/metrics", _metrics, include_in_schema=False, response_class=Response)


def _metrics(request: Request) -> Response:
    meters = request.app.state.meters
    return Response(meters.text(doors_of(request).catalogue), media_type=CONTENT_TYPE_LATEST)
