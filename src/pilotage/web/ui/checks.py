"""The pages of checks: the list, one check, and the page that checks a pasted text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import Response

from pilotage.checks.model import Severity
from pilotage.core.errors import Busy, UserError
from pilotage.web import checking
from pilotage.web.bodies import read_body
from pilotage.web.errors import Problem, problem_of
from pilotage.web.ui.problems import said
from pilotage.web.ui.rendering import Renderer, View
from pilotage.web.ui.routing import Found, Page
from pilotage.web.ui.routing import endpoint as page_endpoint

MOST_POSTED = 3 * (checking.MOST_BYTES + checking.MOST_OWN_BYTES) + 10_000
"""A form writes many characters as three."""
_MOST_SHOWN = 100
_MOST_UNREAD = 20
_SAMPLE = """\
apiVersion: batch/v1
kind: CronJob
metadata:
  name: report
spec:
  schedule: "*/15 * * * *"
  jobTemplate:
    spec:
      concurrencyPolicy: Forbid
      template:
        spec:
          restartPolicy: Never
          containers:
            - name: report
              image: registry.example.com/report:1.2
"""
_OWN_EXAMPLE = """\
checks:
  - id: shop-no-latest
    title: A container runs whatever is latest
    severity: high
    kinds: [Deployment]
    each: spec.template.spec.containers
    validations:
      - expression: '!item.image.endsWith(":latest")'
        path: image
    fix: Name a version."""


@dataclass(frozen=True)
class Choice:
    """A value by which the list can be narrowed."""

    value: str
    n: int
    on: bool


def checks(view: View) -> Found:
    """All checks, narrowed by severity, family, incident and words.

    Raises:
        UnknownTerm: a severity or a family does not exist.
    """
    asked = view.request.query_params
    severities, families = asked.getlist("severity"), asked.getlist("family")
    words, incident = asked.get("q", "")[:200], asked.get("incident", "")[:200]
    offer = view.doors.offer
    wanted = checking.Wanted(tuple(severities), tuple(families), incident, words)
    found = offer.chosen(wanted)
    return "checks.html", {
        "found": found,
        "incidents": checking.incidents_of(found, view.doors.catalogue, view.audience, view.lang),
        "severities": _levels(offer.chosen(replace(wanted, severity=())), severities),
        "families": _families(offer, offer.chosen(replace(wanted, family=())), families),
        "words": words,
        "incident": incident,
        "narrowed": bool(severities or families or words or incident),
    }


def _levels(found: list[Any], on: list[str]) -> list[Choice]:
    counted = Counter(one.severity.value for one in found)
    return [Choice(level.value, counted[level.value], level.value in on) for level in Severity]


def _families(offer: checking.Offer, found: list[Any], on: list[str]) -> list[Choice]:
    counted = Counter(one.family for one in found)
    listed = [Choice(name, counted[name], name in on) for name in offer.families]
    return sorted([one for one in listed if one.n or one.on], key=lambda one: (not one.on, -one.n, one.value))


def check(view: View) -> Found:
    """The page of a check.

    Raises:
        NotFound: there is none; the hint names the nearest ids.
    """
    one = view.doors.offer.named(view.request.path_params["id"])
    family = checking.Wanted(family=(one.family,))
    return "check.html", {
        "check": one,
        "sections": [
            (name, name.lower().replace(" ", "_"), one.page[name])
            for name in one.page
            if name != "References"
        ],
        "incidents": checking.incidents_of([one], view.doors.catalogue, view.audience, view.lang),
        "alike": [each for each in view.doors.offer.chosen(family) if each.id != one.id],
    }


def endpoint(renderer: Renderer) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint of `/checks/try`: an empty form, or the report on what was pasted. It keeps nothing."""
    get = page_endpoint(renderer, _empty)

    async def answer(request: Request) -> Response:
        if request.method != "POST":
            return await get(request)
        body = await read_body(request, MOST_POSTED)
        if body is None:
            raise checking.too_long()
        return await page_endpoint(renderer, _posted(body))(request)

    return answer


def _empty(view: View) -> Found:
    sample = "sample" in view.request.query_params
    return "check_try.html", _form(view, {"text": _SAMPLE if sample else ""})


def _form(view: View, typed: Mapping[str, str]) -> dict[str, Any]:
    return {
        "text": typed.get("text", ""),
        "name": typed.get("name", ""),
        "own_checks": typed.get("own_checks", ""),
        "takes_own": view.doors.offer.accepts,
        "own_example": _OWN_EXAMPLE,
        "documents": checking.MOST_DOCUMENTS,
        "most_own": checking.MOST_OWN_CHECKS,
        "most_own_kib": checking.MOST_OWN_BYTES // 1024,
        "report": None,
        "said": None,
    }


def _posted(body: bytes) -> Page:
    def page(view: View) -> Found | Response:
        try:
            values = parse_qs(body.decode("utf-8", "replace"), max_num_fields=20)
        except ValueError:
            values = {}
        typed = {key: listed[0].replace("\r\n", "\n") for key, listed in values.items()}
        typed["name"] = typed.get("name", "")[:200].strip()
        form = _form(view, typed)
        question = checking.Question(form["text"], form["name"] or "pasted", own_checks=form["own_checks"])
        try:
            report = view.doors.offer.check_text(question)
        except (UserError, Busy) as error:
            # The box keeps what was pasted, with what is wrong beside it.
            return _refused(view, form, problem_of(error))
        known = checking.incidents_of(report.checks.values(), view.doors.catalogue, view.audience, view.lang)
        shown = report.findings[:_MOST_SHOWN]
        return "check_try.html", form | {
            "report": report,
            # Checks that came with the text have no page.
            "with_page": view.doors.offer.checks,
            "shown": shown,
            "incidents": known,
            "counts": [(level.value, n) for level, n in report.counts().items() if n],
            "problems": report.problems[:_MOST_UNREAD],
            "unknown": report.unknown[:_MOST_UNREAD],
        }

    return page


def _refused(view: View, form: dict[str, Any], problem: Problem) -> Response:
    renderer: Renderer = view.request.app.state.renderer
    told = form | {"said": said(problem, view.lang)}
    response = renderer.respond(view, "check_try.html", told, status=problem.status)
    response.headers.update(problem.headers())
    return response
