"""Topics, organisations and the vocabulary."""

from __future__ import annotations

from starlette.responses import RedirectResponse, Response

from pilotage.core.errors import NotFound, UnknownTerm
from pilotage.core.text import did_you_mean
from pilotage.library.insight.topics import Topic, TopicTerm
from pilotage.library.record import LANGS, read_record
from pilotage.library.stores.protocol import Filters, Tag
from pilotage.library.terms import FACET_OF, KINDS, Term
from pilotage.web.ui.charts import Bars, year_bars
from pilotage.web.ui.rendering import View
from pilotage.web.ui.routing import Found
from pilotage.web.ui.searching import state_of
from pilotage.web.ui.state import State

CASES = 10
_TELLING = 12
_INDEX = ("symptom", "component", "root_cause", "contributing", "domain")
_INDEX_TERMS = 14


def topics(view: View) -> Found:
    """What incidents that bear some terms have in common; without terms, where to begin."""
    state = state_of(view)
    if not state.terms:
        counts = view.doors.catalogue.store.facets(Filters(), view.audience)
        listed = [(facet, _sorted(view, facet, counts.get(facet, {}))[:_INDEX_TERMS]) for facet in _INDEX]
        return "topics.html", {"listed": [(facet, terms) for facet, terms in listed if terms]}
    found = view.doors.catalogue.topic(
        state.terms, view.audience, view.lang, limit=CASES, cursor=state.cursor or None
    )
    title = " + ".join(label[view.lang] for label in found.labels)
    return "topic.html", {**_topic(view, found), "state": state, "title_text": title, "path": "/topics"}


def _topic(view: View, found: Topic) -> dict[str, object]:
    store = view.doors.catalogue.store
    stored = store.get([case.id for case in found.cases], view.audience)
    years = store.facets(Filters(), view.audience).get("year", {})
    own = store.facets(Filters(all_of=found.terms), view.audience).get("year", {})
    return {
        "topic": found,
        "records": [
            (read_record(stored[case.id].document, where=case.id), stored[case.id].private)
            for case in found.cases
            if case.id in stored
        ],
        "companions": telling(found),
        "years": year_bars(years, width_=336, height=84, part=own) if own else Bars(0, 0, 0, (), ()),
    }


def telling(found: Topic) -> list[TopicTerm]:
    """The terms that set the cases apart, the most telling first; those of a single case last."""
    every = [term for terms in found.companions.values() for term in terms]
    every.sort(key=lambda term: (term.n == 1, -term.score, -term.n, term.facet, term.slug))
    return every[:_TELLING]


def _sorted(view: View, facet: str, counts: dict[str, int]) -> list[tuple[Tag, str, int]]:
    listed = [((facet, slug), view.facet(facet, slug), n) for slug, n in counts.items() if n]
    return sorted(listed, key=lambda item: (-item[2], item[1]))


def organisations(view: View) -> Found:
    """All organisations with their number of incidents."""
    counts = view.doors.catalogue.store.facets(Filters(), view.audience).get("organisation", {})
    listed = _sorted(view, "organisation", counts)
    listed.sort(key=lambda item: item[1].lower())
    return "organisations.html", {"listed": listed, "most": max((n for _, _, n in listed), default=1)}


def organisation(view: View) -> Found:
    """The incidents of one organisation and what stands out among them.

    Raises:
        NotFound: no record and no term of that name.
        InvalidInput: see `state_of`.
    """
    slug = view.request.path_params["slug"]
    word = f"organisation:{slug}"
    try:
        view.doors.catalogue.tags([word], view.audience)
    except UnknownTerm as error:
        raise NotFound(f"no organisation '{slug}'", hint=error.hint) from error
    state = state_of(view, [("facet", word), *view.request.query_params.multi_items()])
    found = view.doors.catalogue.topic(
        state.terms, view.audience, view.lang, limit=CASES, cursor=state.cursor or None
    )
    own = state.terms[0][1]
    term = view.doors.catalogue.vocabulary.terms["organisations"].get(own)
    return "topic.html", {
        **_topic(view, found),
        "state": state,
        "title_text": found.labels[0][view.lang],
        "path": f"/organisations/{own}",
        "organisation": term,
    }


def vocabulary(view: View) -> Found:
    """The kinds of the vocabulary."""
    vocabulary = view.doors.catalogue.vocabulary
    kinds = [
        (
            kind,
            sum(1 for term in vocabulary.of(kind).values() if not term.replaced_by),
            vocabulary.versions.get(kind),
        )
        for kind in KINDS
    ]
    return "vocabulary.html", {"kinds": kinds}


def kind(view: View) -> Found:
    """The terms of a kind with their definitions and number of incidents.

    Raises:
        NotFound: no such kind.
    """
    name = view.request.path_params["kind"]
    terms = _of(view, name)
    counts = view.doors.catalogue.store.facets(Filters(), view.audience).get(FACET_OF[name], {})
    listed = [(term, counts.get(term.slug, 0)) for term in terms.values() if not term.replaced_by]
    listed.sort(key=lambda item: (-item[1], item[0].label.get(view.lang, item[0].slug)))
    return "kind.html", {"kind": name, "listed": listed, "most": max((n for _, n in listed), default=1)}


def _of(view: View, name: str) -> dict[str, Term]:
    if name not in KINDS:
        raise NotFound(f"'{name}' is no kind of vocabulary", hint=did_you_mean(name, KINDS))
    return view.doors.catalogue.vocabulary.of(name)


def term(view: View) -> Found | Response:
    """One term: definition, synonyms, incidents, terms that stand beside it.

    Raises:
        NotFound: no such term; the hint names the nearest ones.
    """
    name, slug = view.request.path_params["kind"], view.request.path_params["slug"]
    terms = _of(view, name)
    if slug not in terms:
        raise NotFound(f"no term '{slug}' among {name}", hint=did_you_mean(slug, terms))
    own = terms[slug]
    if own.replaced_by:
        return RedirectResponse(view.u(f"/vocabulary/{name}/{own.replaced_by}"), 301)
    tag = (FACET_OF[name], slug)
    found = view.doors.catalogue.topic([tag], view.audience, view.lang, limit=CASES)
    return "term.html", {
        **_topic(view, found),
        "term": own,
        "tag": tag,
        "state_of_term": State(terms=(tag,)),
        "parent": terms.get(own.parent or ""),
        "children": [one for one in terms.values() if one.parent == slug and not one.replaced_by],
        "synonyms": [(lang, own.synonyms.get(lang, ())) for lang in LANGS],
    }
