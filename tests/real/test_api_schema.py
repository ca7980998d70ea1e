"""Schemathesis on the description of the API: no 500, no answer that it does not describe."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import schemathesis
import structlog
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)
from starlette.types import ASGIApp, Receive, Scope, Send

from pilotage.library.stores.opening import open_store
from rig.rest import fill, make_app

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    response_headers_conformance,
    unsupported_method,
]


def once(app: ASGIApp) -> ASGIApp:
    """The app without its beginning and end, which Schemathesis would play anew for every request."""

    async def served(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            await app(scope, receive, send)
            return
        while True:
            message = await receive()
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                return

    return served


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[schemathesis.BaseSchema]:
    path = tmp_path_factory.mktemp("schema") / "library.db"
    fill(str(path))
    store = open_store(str(path))
    with structlog.testing.capture_logs():
        yield schemathesis.openapi.from_asgi("/api/v1/openapi.json", once(make_app(store)))
    store.close()


@pytest.mark.slow
@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_answers_are_as_described(api: schemathesis.BaseSchema, mode: GenerationMode) -> None:
    """Requests that follow the description, and requests that do not."""
    walked = 0
    for found in api.get_all_operations():
        operation = found.ok()

        @given(case=operation.as_strategy(generation_mode=mode))
        @settings(
            max_examples=12,
            deadline=None,
            derandomize=True,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def answers(case: schemathesis.Case) -> None:
            case.call_and_validate(checks=CHECKS)

        try:
            answers()
        except Unsatisfiable:
            # There is no wrong request to a route whose every parameter takes any text.
            continue
        walked += 1
    assert walked > 10
