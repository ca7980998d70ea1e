"""`/api/v1/checks`: the list, one check, a run over a text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from pilotage.checks.reports.as_json import document
from pilotage.checks.reports.document import ReportValue
from pilotage.web import checking
from pilotage.web.api import check_models
from pilotage.web.api.answering import answer, reader_of
from pilotage.web.api.answers import Reader
from pilotage.web.api.check_queries import ChecksAsked, RunAsked
from pilotage.web.api.paging import next_link
from pilotage.web.api.queries import Asked
from pilotage.web.bodies import FORM, is_form, read_body, read_parts

CheckId = Annotated[
    str, Path(description="Id of a check.", max_length=200, examples=["webhook-fail-catch-all"])
]
_SAMPLE = """\
apiVersion: batch/v1
kind: CronJob
metadata: {name: report}
spec:
  schedule: "*/15 * * * *"
  jobTemplate:
    spec:
      concurrencyPolicy: Forbid
      template:
        spec:
          restartPolicy: Never
          containers: [{name: report, image: "registry.example.com/report:1.2"}]
"""
_OWN_SAMPLE = """\
checks:
  - id: shop-no-latest
    title: A container runs whatever is latest
    severity: high
    kinds: [CronJob]
    each: spec.jobTemplate.spec.template.spec.containers
    validations:
      - expression: '!item.image.endsWith(":latest")'
        path: image
    fix: Name a version.
"""
_TEXT, _OWN = "text", "own_checks"
_BODY = {
    "requestBody": {
        "required": True,
        "description": "Kubernetes manifests (YAML or JSON, several documents), or one configuration of "
        "HAProxy, nginx or CoreDNS, as it would stand in a file, in UTF-8. Of the media type only a form is "
        f"told apart: its part `{_TEXT}` holds this text and `{_OWN}`, where the server was started with "
        f"`--accept-own-checks`, a file of own checks (at most {checking.MOST_OWN_BYTES} bytes and "
        f"{checking.MOST_OWN_CHECKS} checks).",
        "content": {
            **{
                kind: {"schema": {"type": "string", "minLength": 1}, "example": _SAMPLE}
                for kind in ("application/yaml", "text/plain")
            },
            FORM: {
                "schema": {
                    "type": "object",
                    "properties": {_TEXT: {"type": "string", "minLength": 1}, _OWN: {"type": "string"}},
                    "required": [_TEXT],
                    "additionalProperties": False,
                },
                "example": {_TEXT: _SAMPLE, _OWN: _OWN_SAMPLE},
            },
        },
    }
}
_MOST_FORM_BYTES = checking.MOST_BYTES + checking.MOST_OWN_BYTES + 4096
_TOO_LARGE: dict[int | str, dict[str, Any]] = {
    413: {"description": f"The text is longer than {checking.MOST_BYTES} bytes."}
}


def add_routes(router: APIRouter) -> None:
    """Adds the routes."""
    shape: dict[str, Any] = {"tags": ["Checks"]}
    router.add_api_route(
        "/checks", checks, response_model=check_models.Checks, summary="List checks", **shape
    )
    router.add_api_route(
        "/checks/run",
        run,
        methods=["POST"],
        response_model=ReportValue,
        summary="Check a text",
        responses=_TOO_LARGE,
        openapi_extra=_BODY,
        **shape,
    )
    router.add_api_route(
        "/checks/{id}", check, response_model=check_models.WholeCheck, summary="Read a check", **shape
    )


def listed(reader: Reader, asked: ChecksAsked) -> dict[str, Any]:
    """A part of the list of checks; see `check_models.Checks`."""
    wanted = checking.Wanted(tuple(asked.severity), tuple(asked.family), asked.incident, asked.q)
    found = reader.offer.part(wanted, limit=asked.limit, cursor=asked.cursor)
    incidents = checking.incidents_of(found.items, reader.catalogue, reader.audience, reader.lang)
    return {
        "total": found.total,
        "items": [checking.check_item(one, incidents) for one in found.items],
        "next": found.onward.next,
    }


def whole(reader: Reader, name: str) -> dict[str, Any]:
    """A check with its page; see `check_models.WholeCheck`."""
    one = reader.offer.named(name)
    return checking.whole_check(
        one, checking.incidents_of([one], reader.catalogue, reader.audience, reader.lang)
    )


def checks(request: Request, asked: Annotated[ChecksAsked, Query()]) -> Response:
    """Checks that fit, worst first, then by family.

    Pages of checks are in English; `lang` decides the language of the incidents.
    """
    found = listed(reader_of(request), asked)
    return answer(request, found, next_link(request, found))


def check(request: Request, id: CheckId, asked: Annotated[Asked, Query()]) -> Response:  # noqa: A002, ARG001 - the field's word; checked by being read
    """One check: what it does, why it matters, the incidents behind it, the fix, references."""
    return answer(request, whole(reader_of(request), id))


async def run(request: Request, asked: Annotated[RunAsked, Query()]) -> Response:
    """The report on the text in the body: the same as `pilotage check --output json`.

    Nothing is kept, no file of the server is read, and nothing that the text names is fetched: charts and
    Kustomize folders are not rendered. What could not be read stands in `problems`.
    """
    form = is_form(request)
    body = await read_body(request, _MOST_FORM_BYTES if form else checking.MOST_BYTES)
    if body is None:
        raise checking.too_long()
    parts = await read_parts(request, body, (_TEXT, _OWN)) if form else {_TEXT: body}
    return await run_in_threadpool(_report, reader_of(request), parts, asked)


def _report(reader: Reader, parts: Mapping[str, bytes], asked: RunAsked) -> JSONResponse:
    text, own = (parts.get(name, b"").decode("utf-8", "surrogateescape") for name in (_TEXT, _OWN))
    question = checking.Question(
        text=text,
        name=asked.name or "pasted",
        select=tuple(asked.select),
        ignore=tuple(asked.ignore),
        kubernetes=asked.kubernetes,
        own_checks=own,
    )
    report = reader.offer.check_text(question)
    incidents = checking.incidents_of(report.checks.values(), reader.catalogue, reader.audience, reader.lang)
    told = {"Cache-Control": "no-store", "Content-Language": reader.lang}
    return _Report(document(report, incidents), headers=told)


class _Report(JSONResponse):
    """JSON of a text that others sent, in which bytes may stand that are no UTF-8."""

    def render(self, content: Any) -> bytes:
        """The document, with such bytes replaced."""
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
