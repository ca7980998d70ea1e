"""Search, the home page and the list of incidents."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from pilotage.core.cursors import LONGEST
from pilotage.core.errors import InvalidInput, TooLarge
from pilotage.library.analysis import words
from pilotage.library.record import read_record
from pilotage.library.search.answer import FIELD_LABELS, Answer, Hit
from pilotage.library.search.engine import Request as Asked
from pilotage.library.search.query import Query
from pilotage.library.stores.protocol import Filters, Tag
from pilotage.library.terms import FACET_OF, Term
from pilotage.web.bodies import read_body
from pilotage.web.errors import problem_of
from pilotage.web.ui.problems import said
from pilotage.web.ui.rendering import Renderer, View
from pilotage.web.ui.routing import Found, Page
from pilotage.web.ui.routing import endpoint as page_endpoint
from pilotage.web.ui.state import MOST_TERMS, PAGE, State, facet_words

SHOWN = (
    "component", "symptom", "root_cause", "contributing", "organisation", "year", "domain", "detection",
    "remediation", "severity", "source_kind", "status",
)  # fmt: skip
"""The facets beside a list, in this order."""
FIRST = 5
"""How many values of a facet are shown before the fold."""
LIST = 20
MOST_POSTED = 1_000_000
_MOST_FIELDS = 200
_NEWEST = 5
_HAZARDS = 12


@dataclass(frozen=True)
class Value:
    """One value of a facet beside a list."""

    tag: Tag
    label: str
    n: int
    on: bool


@dataclass(frozen=True)
class Read:
    """A part of the query and what it was understood as."""

    typed: str
    meant: str


def home(view: View) -> Found | Response:
    """The page to begin at."""
    if view.request.query_params.get("q"):
        return RedirectResponse(view.u("/search", list(state_of(view).pairs)), 303)
    catalogue = view.doors.catalogue
    newest = catalogue.page(Filters(), view.audience, limit=_NEWEST)
    counts = catalogue.store.facets(Filters(), view.audience)
    common = sorted(counts.get("symptom", {}).items(), key=lambda item: (-item[1], item[0]))
    unspoken = {"none-visible", "unknown"}
    return "home.html", {
        "total": newest.total,
        "newest": [read_record(item.document, where=item.id) for item in newest.items],
        "hazards": [(("symptom", slug), n) for slug, n in common if slug not in unspoken][:_HAZARDS],
        "state": State(),
    }


def incidents(view: View) -> Found:
    """All incidents, newest first, narrowed by facets."""
    catalogue = view.doors.catalogue
    state = state_of(view)
    filters = Filters(all_of=state.terms)
    page = catalogue.page(filters, view.audience, limit=LIST, cursor=state.cursor or None)
    counts = catalogue.store.facets(filters, view.audience) if page.total else {}
    return "incidents.html", {
        "state": state,
        "page": page,
        "records": [(read_record(item.document, where=item.id), item.private) for item in page.items],
        "facets": facets(view, counts, state),
    }


def state_of(view: View, values: Sequence[tuple[str, str]] | None = None) -> State:
    """The search that an address or a form asks for.

    Raises:
        InvalidInput: a facet or one of its values is unknown, or there are too many.
    """
    pairs = view.request.query_params.multi_items() if values is None else list(values)
    single = dict(pairs)
    terms = view.doors.catalogue.tags(facet_words(pairs), view.audience)
    return State(single.get("q", ""), terms, single.get("cursor", "")[:LONGEST])


def facets(
    view: View, counts: Mapping[str, Mapping[str, int]], state: State
) -> list[tuple[str, list[Value]]]:
    """The facets beside a list: chosen values first, then the most frequent; years as a calendar has them."""
    chosen = set(state.terms)
    found = []
    for facet in SHOWN:
        values = dict(counts.get(facet, {}))
        for one, slug in state.terms:
            if one == facet:
                values.setdefault(slug, 0)
        listed = [
            Value((facet, slug), view.facet(facet, slug), n, (facet, slug) in chosen)
            for slug, n in values.items()
        ]
        if facet == "year":
            listed.sort(key=lambda value: (not value.on, -int(value.tag[1])))
        else:
            listed.sort(key=lambda value: (not value.on, -value.n, value.label))
        if len(listed) > 1 or any(value.on for value in listed):
            found.append((facet, listed))
    return found


def search(view: View, state: State) -> dict[str, Any]:
    """What the search page shows."""
    catalogue = view.doors.catalogue
    asked = Asked(
        state.text,
        Filters(all_of=state.terms),
        view.audience,
        view.lang,
        PAGE,
        state.cursor or None,
        facets=True,
    )
    answer = catalogue.search(asked)
    query = catalogue.searcher.understand(state.text, view.audience)
    return {
        "state": state,
        "answer": answer,
        "hits": [(hit, why(hit, view)) for hit in answer.hits],
        "read": [] if query.pasted else readings(query, view),
        "query": query,
        "facets": facets(view, answer.facets, state),
        "nearest": _nearest(view, answer),
        "meant": _meant(query, view) if answer.no_good_match else "",
        "wider": _wider(view, state) if answer.no_good_match else [],
        "total_records": catalogue.store.count(Filters(), view.audience),
    }


def why(hit: Hit, view: View) -> list[tuple[str, str]]:
    """The reasons of a hit as (label, detail)."""
    reason = hit.why
    found = [(term.label.get(view.lang) or term.slug, "") for term in reason.terms]
    found += [(date, "") for date in reason.dates]
    if reason.words:
        places = dict.fromkeys(FIELD_LABELS.get(s.field, {}).get(view.lang, s.field) for s in reason.snippets)
        place = ", ".join(list(places)[:2]) or FIELD_LABELS["phrase"][view.lang]
        found.append((", ".join(reason.words[:5]), place))
    if reason.semantic >= 0.15:  # noqa: PLR2004 - less is not worth a reader's while
        part = FIELD_LABELS.get(reason.nearest, {}).get(view.lang, reason.nearest)
        found.append((view.t("like_in_meaning"), f"{part} {round(reason.semantic * 100)} %".strip()))
    return found


def readings(query: Query, view: View) -> list[Read]:
    """How the query was read: its words beside the terms, dates and phrases that they were taken for."""
    spoken = words(query.text)
    found: dict[tuple[int, int], list[str]] = {}
    for mention in query.mentions:
        found.setdefault((mention.first, mention.last), []).append(
            mention.term.label.get(view.lang) or mention.term.slug
        )
    read = [
        Read(" ".join(spoken[a : b + 1]), " · ".join(dict.fromkeys(names))) for (a, b), names in found.items()
    ]
    for facet, slug in query.filters.all_of:
        read.append(Read(view.t(f"facet_{facet}"), view.facet(facet, slug)))
    for facet, slug in query.filters.none_of:
        read.append(Read(f"− {view.t(f'facet_{facet}')}", view.facet(facet, slug)))
    read += [
        Read(f"{year}-{month:02}" if month else year, view.t("facet_year")) for year, month in query.dates
    ]
    if query.require:
        read.append(Read(view.t("read_phrase"), str(len(query.require))))
    if query.exclude:
        read.append(Read(view.t("read_without"), str(len(query.exclude))))
    return read


def _nearest(view: View, answer: Answer) -> list[tuple[Term, Tag, int]]:
    counts = view.doors.catalogue.store.facets(Filters(), view.audience) if answer.suggestions else {}
    found = []
    for term in answer.suggestions:
        facet = FACET_OF[term.kind]
        found.append((term, (facet, term.slug), counts.get(facet, {}).get(term.slug, 0)))
    return found


def _meant(query: Query, view: View) -> str:
    """The query with mistyped words put right; nothing when none was."""
    text = query.raw
    for word in query.words:
        meant = view.doors.catalogue.lexicon.correction(word.text)
        if meant and meant.lower() != word.text.lower():
            text = text.replace(word.text, meant)
    return text if text != query.raw else ""


def _wider(view: View, state: State) -> list[tuple[Tag, int]]:
    """For each term in use: how many hits there would be without it."""
    found = []
    for term in state.terms[:4]:
        asked = Asked(
            state.text,
            Filters(all_of=state.without(term).terms),
            view.audience,
            view.lang,
            1,
        )
        total = view.doors.catalogue.search(asked).total
        if total:
            found.append((term, total))
    return found


def endpoint(renderer: Renderer) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint of `/search`: an address, or a form for what no address can hold."""
    get = page_endpoint(renderer, _from_address)

    async def answer(request: Request) -> Response:
        if request.method != "POST":
            return await get(request)
        body = await read_body(request, MOST_POSTED)
        if body is None:
            hint = "A search reads the first 20 kB of a text."
            raise TooLarge(f"the form is longer than {MOST_POSTED} bytes", hint=hint)
        return await page_endpoint(renderer, _from_form(body))(request)

    return answer


def _from_address(view: View) -> Found | Response:
    return _page(view, None)


def _from_form(body: bytes) -> Page:
    def page(view: View) -> Found | Response:
        try:
            values = parse_qsl(body.decode("utf-8", "replace"), max_num_fields=_MOST_FIELDS)
        except ValueError as error:
            hint = f"A search has at most {MOST_TERMS} facet terms."
            raise InvalidInput(f"the form has more than {_MOST_FIELDS} fields", hint=hint) from error
        return _page(view, values)

    return page


def _page(view: View, values: list[tuple[str, str]] | None) -> Found | Response:
    fragment = bool(dict(values or view.request.query_params.multi_items()).get("fragment"))
    template = "results.html" if fragment else "search.html"
    try:
        state = _after_buttons(view, state_of(view, values), values or [])
        if values is not None and state.short and not fragment:
            return RedirectResponse(view.u("/search", state.pairs), 303)
        return template, search(view, state)
    except InvalidInput as error:
        # The box keeps what was typed, with what is wrong beside it.
        single = dict(values or view.request.query_params.multi_items())
        return _refused(view, template, State(single.get("q", ""), cursor=single.get("cursor", "")), error)


def _after_buttons(view: View, state: State, values: list[tuple[str, str]]) -> State:
    # Chips of a search without an address are buttons of its form.
    for key, value in values:
        if key == "remove":
            for term in view.doors.catalogue.tags([value], view.audience):
                state = state.without(term)
        if key == "clear":
            state = state.only_text()
    return state


def _refused(view: View, template: str, state: State, error: InvalidInput) -> Response:
    renderer: Renderer = view.request.app.state.renderer
    problem = problem_of(error)
    told = said(problem, view.lang)
    context = {"state": state, "said": told, "answer": None, "facets": [], "hits": [], "read": []}
    return renderer.respond(view, template, context, status=problem.status)
