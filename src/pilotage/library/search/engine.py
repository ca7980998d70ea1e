"""From a query to an answer: ask the store, weigh words and meaning, decide whether anything fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from pilotage.core.cursors import Part, Place, Question, Rest, Walk, read_place, read_rest
from pilotage.library.paging import KEY_SIZE, filters_told, order_key, place_of
from pilotage.library.record import Lang, Record, read_record
from pilotage.library.search.answer import Answer, Hit, Why
from pilotage.library.search.explaining import Explainer
from pilotage.library.search.lexicon import Lexicon, load_lexicon
from pilotage.library.search.plan import Plan, as_typed, make_plan, plan_tokens
from pilotage.library.search.query import Query, own_names, parse_query, refuse_unreadable
from pilotage.library.search.ranking import (
    WORDS_ALONE,
    WORDS_AND_MEANING,
    Evidence,
    Ranked,
    Ranking,
    rank,
    told_tokens,
)
from pilotage.library.search.semantic import Likeness, SemanticSearch
from pilotage.library.search.snippets import Pieces, pieces_of
from pilotage.library.shelf import Shelf
from pilotage.library.stores.protocol import (
    NO_FILTERS,
    Audience,
    Filters,
    Frequencies,
    Match,
    Phrase,
    Store,
    Stored,
    Tag,
)
from pilotage.library.terms import FACET_OF, Term, Vocabulary, load_vocabulary

CANDIDATES = 400
"""How many records the store hands over for ranking; facets count the good ones among them."""

_CLOSELY_READ = 40
_SEMANTIC_TEXT = 600
_MOST_COUNTED = 50_000
_MOST_LOOKED_AT = 1_000
_MOST_SHOWN = 500


@dataclass(frozen=True)
class Request:
    """What is asked.

    Attributes:
        text: the query, typed or pasted.
        filters: facet terms from outside the query.
        audience: whose records.
        lang: language of labels and snippets.
        limit: number of hits.
        cursor: where the answer goes on, as `Answer.next` gave it.
        facets: whether the answer counts facets.
    """

    text: str
    filters: Filters = NO_FILTERS
    audience: Audience = "public"
    lang: Lang = "en"
    limit: int = 10
    cursor: str | None = None
    facets: bool = False


@dataclass(frozen=True)
class _Look:
    """What ranking asks of a record.

    Attributes:
        tags: its vocabulary terms.
        tokens: its index tokens, each between blanks.
        name: those of its title, organisation and ids, likewise.
    """

    tags: frozenset[Tag]
    tokens: str
    name: str


@dataclass(frozen=True)
class _Shown:
    """What showing a hit takes."""

    record: Record
    pieces: Pieces


class Searcher:
    """Answers queries over one store.

    Args:
        store: where the records are.
        semantic: likeness of meaning, or None to answer from words alone.
        vocabulary: the controlled vocabulary.
        lexicon: its names.
    """

    def __init__(
        self,
        store: Store,
        semantic: SemanticSearch | None = None,
        vocabulary: Vocabulary | None = None,
        lexicon: Lexicon | None = None,
    ) -> None:
        self.store = store
        self.semantic = semantic
        self.vocabulary = vocabulary or load_vocabulary()
        self.lexicon = lexicon or load_lexicon()
        self._looks: Shelf[_Look] = Shelf(store, self._look, most=_MOST_LOOKED_AT)
        self._shown: Shelf[_Shown] = Shelf(store, self._show, most=_MOST_SHOWN)
        self._counted: tuple[int, int, dict[str, int]] | None = None

    def search(self, request: Request) -> Answer:
        """The answer to a request.

        Raises:
            UnknownTerm: the query has a `field:value` that does not exist.
            InvalidInput: the query is not text, or has an operator that there is not; or the cursor is none
                of this request.
        """
        refuse_unreadable(request.text)
        query = self.understand(request.text, request.audience)
        filters = _joined(request.filters, query.filters)
        if query.empty:
            return self._browse(request, query, filters)
        plan = self.plan(query)
        rest = read_rest(request.cursor, _question(request))
        ranking = self.rank(query, plan, filters, request.audience)
        seen, left = 0, _ids(ranking.good)
        if rest is not None:
            seen = rest.seen
            ranking, left = self._going_on(query, plan, filters, request.audience, ranking, rest)
        walk = Walk(_question(request), seen, left, request.limit)
        return self._answer(request, query, plan, ranking, walk)

    def understand(self, text: str, audience: Audience) -> Query:
        """What a query asks for; values that only records know are looked up when a filter needs them."""
        known: dict[str, set[str]] = {"status": {"draft", "reviewed", "withdrawn"}}
        if ":" in text:
            facets = self.store.facets(Filters(withdrawn=True), audience)
            known |= {facet: set(values) | known.get(facet, set()) for facet, values in facets.items()}
        return self._loosened(parse_query(text, self.vocabulary, self.lexicon, known), audience)

    def _loosened(self, query: Query, audience: Audience) -> Query:
        """The query without the demand of phrases that no record holds, unless it asks for nothing else.

        Messages quote names (`calling webhook "policy-a" …`), and a name of one's own is in no report: its
        words that no record holds say nothing of what happened, and nothing against what is found.
        """
        demanded = {token for phrase in query.require for token in phrase}
        if not demanded or all(demanded.issuperset(word.tokens) for word in query.words):
            return query
        held = {phrase for phrase in query.require if self._is_held(phrase, audience)}
        named = {token for phrase in own_names(query) - held for token in phrase}
        known = self._frequencies(sorted(named)).of
        return replace(
            query,
            words=tuple(word for word in query.words if any(t not in named or known[t] for t in word.tokens)),
            require=tuple(phrase for phrase in query.require if phrase in held),
            corrections=tuple(
                (f'"{typed}"', typed)
                for typed in (as_typed(phrase, query) for phrase in query.require if phrase not in held)
            ),
        )

    def _is_held(self, phrase: Phrase, audience: Audience) -> bool:
        match = Match(groups=((1.0, (phrase,)),), require=(phrase,))
        return bool(self.store.match(match, Filters(withdrawn=True), audience, limit=1))

    def _frequencies(self, wanted: Sequence[str]) -> Frequencies:
        """Frequencies are kept as long as the store stays as it is: common words are dear to count."""
        version = self.store.data_version("public")
        held = self._counted
        if held is None or held[0] != version:
            held = self._counted = (version, self.store.frequencies(()).records, {})
        _, records, known = held
        missing = [token for token in wanted if token not in known]
        if missing:
            # A new dictionary each time: other threads may be reading the old one.
            known = (known if len(known) <= _MOST_COUNTED else {}) | self.store.frequencies(missing).of
            self._counted = (version, records, known)
        return Frequencies(records, {token: known.get(token, 0) for token in wanted})

    def plan(self, query: Query) -> Plan:
        """What the store is asked for a query."""
        return make_plan(query, self._frequencies(plan_tokens(query)), self.lexicon)

    def rank(
        self, query: Query, plan: Plan, filters: Filters, audience: Audience, also: Sequence[str] = ()
    ) -> Ranking:
        """All candidates, best first; with them these, whether or not the store would name them now."""
        lexical = dict(self.store.match(plan.match, filters, audience, limit=CANDIDATES))
        likeness = self._likeness(query, plan, filters, audience, lexical)
        by_meaning = sorted(likeness, key=lambda key: -likeness[key].score)
        close = list(dict.fromkeys([*list(lexical)[:_CLOSELY_READ], *by_meaning[:_CLOSELY_READ], *also]))
        looks = self._looks.of(self.store.stamps(close, audience).values())
        wanted = told_tokens(query, plan)
        evidence = [
            Evidence(
                key,
                lexical.get(key, 0.0),
                likeness.get(key),
                _held(looks[key].tokens, wanted) if key in looks else frozenset(),
                looks[key].tags if key in looks else frozenset(),
                _held(looks[key].name, wanted) if key in looks else frozenset(),
            )
            for key in dict.fromkeys([*lexical, *likeness, *also])
        ]
        # A store without vectors, filled before the extra was installed, is judged by words alone.
        return rank(query, plan, evidence, WORDS_AND_MEANING if likeness else WORDS_ALONE)

    def _likeness(
        self, query: Query, plan: Plan, filters: Filters, audience: Audience, lexical: Mapping[str, float]
    ) -> dict[str, Likeness]:
        if self.semantic is None:
            return {}
        text = query.text if not query.pasted else " ".join(word.text for word in query.words)
        if not text.strip():
            return {}
        near = self.semantic.nearest(text[:_SEMANTIC_TEXT], audience, limit=CANDIDATES // 2)
        strict = bool(plan.match.require or plan.match.exclude or plan.match.title)
        others = [] if strict else [key for key in near if key not in lexical]
        looks = self._looks.of(self.store.stamps(others, audience).values())
        return {
            key: value
            for key, value in near.items()
            if key in lexical or (key in looks and _allowed(looks[key].tags, filters))
        }

    def _going_on(  # noqa: PLR0913, PLR0917 - what was ranked, and what is left of it
        self, query: Query, plan: Plan, filters: Filters, audience: Audience, ranking: Ranking, rest: Rest
    ) -> tuple[Ranking, tuple[str, ...]]:
        """The hits still to come of an answer that began earlier, and a ranking that holds them.

        Those that fit no more, since they were withdrawn or changed, are left out.
        """
        left = rest.among(_ids(ranking.ranked))
        if len(left) < len(rest.digests):
            # Others came, and have displaced them even as candidates; or they are gone.
            stamps = self.store.stamps(rest.among(self.store.ids(audience)), audience)
            looks = self._looks.of(stamp for name, stamp in stamps.items() if name == stamp.id)
            also = [key for key, look in looks.items() if _allowed(look.tags, filters)]
            ranking = self.rank(query, plan, filters, audience, also)
            left = rest.among(_ids(ranking.ranked))
        return ranking, tuple(left)

    def _answer(self, request: Request, query: Query, plan: Plan, ranking: Ranking, walk: Walk) -> Answer:
        places = {item.id: item for item in ranking.ranked}
        shown = [places[id_] for id_ in walk.ids[: walk.size]]
        stamps = self.store.stamps([item.id for item in shown], request.audience)
        read = self._shown.of(stamps.values())
        total = walk.seen + len(walk.ids)
        explainer = Explainer.of(query, plan, request.lang)
        hits = []
        for item in shown:
            if item.id in read:
                record, pieces = read[item.id].record, read[item.id].pieces
                hits.append(
                    Hit(record, stamps[item.id].private, item.score, explainer.why(item, record, pieces))
                )
        return Answer(
            query=request.text,
            total=total,
            no_good_match=not total,
            suggestions=() if total else tuple(self._suggestions(query)),
            hits=tuple(hits),
            onward=walk,
            facets=self._facets(ranking.good, request),
            used=plan.used_terms,
            pasted=query.pasted,
            clipped=query.clipped,
            corrections=plan.corrections,
            semantic=self.semantic.embedder.name if self.semantic else "",
            confidence=ranking.confidence,
        )

    def _look(self, ids: list[str]) -> dict[str, _Look]:
        tags = self.store.tags(ids, "all")
        columns = self.store.columns(ids, "all")
        return {
            id_: _Look(
                frozenset(tags.get(id_, ())),
                f" {' '.join(columns[id_].values())} ",
                f" {columns[id_]['name']} ",
            )
            for id_ in ids
            if id_ in columns
        }

    def _show(self, ids: list[str]) -> dict[str, _Shown]:
        read = {
            id_: read_record(stored.document, where=id_) for id_, stored in self.store.get(ids, "all").items()
        }
        return {id_: _Shown(record, pieces_of(record)) for id_, record in read.items()}

    def _facets(self, good: Sequence[Ranked], request: Request) -> dict[str, dict[str, int]]:
        if not request.facets or not good:
            return {}
        return self.store.facets(Filters(withdrawn=True), request.audience, [item.id for item in good])

    def _suggestions(self, query: Query) -> list[Term]:
        spoken = [m.term for m in query.mentions if m.term.kind != "organisations"]
        near = self.lexicon.nearest_terms([word.text for word in query.words])
        borne = self.store.facets(Filters(), "public")
        listed = {(term.kind, term.slug): term for term in [*spoken, *near]}
        return [term for term in listed.values() if term.slug in borne.get(FACET_OF[term.kind], {})][:5]

    def _browse(self, request: Request, query: Query, filters: Filters) -> Answer:
        hidden = self._excluded(query, filters, request.audience)
        total = self.store.count(filters, request.audience) - len(hidden) if _asks(query, filters) else 0
        place = read_place(request.cursor, KEY_SIZE, _question(request))
        page = self._listed(filters, request.audience, hidden, place, request.limit + 1) if total else []
        hits = tuple(
            Hit(read_record(stored.document, where=stored.id), stored.private, 0.0, Why())
            for stored in page[: request.limit]
        )
        keys = tuple(order_key(stored) for stored in page[: request.limit])
        facets = self._counts(filters, request.audience, hidden) if total and request.facets else {}
        return Answer(
            query=request.text,
            total=total,
            no_good_match=not total,
            suggestions=(),
            hits=hits,
            onward=Part(_question(request), place.seen, keys, len(page) > request.limit),
            facets=facets,
            clipped=query.clipped,
            confidence=1.0 if total else 0.0,
        )

    def _excluded(self, query: Query, filters: Filters, audience: Audience) -> set[str]:
        """Ids of the filtered records that hold what the query excludes."""
        if not query.exclude:
            return set()
        match = Match(groups=((1.0, query.exclude),))
        most = self.store.count(filters, audience)
        return {id_ for id_, _ in self.store.match(match, filters, audience, limit=most)}

    def _listed(
        self, filters: Filters, audience: Audience, hidden: set[str], place: Place, wanted: int
    ) -> list[Stored]:
        found: list[Stored] = []
        after = place_of(place)
        while len(found) < wanted:
            page = self.store.page(filters, audience, limit=wanted, after=after)
            found += [stored for stored in page if stored.id not in hidden]
            if len(page) < wanted:
                break
            after = order_key(page[-1])
        return found[:wanted]

    def _counts(self, filters: Filters, audience: Audience, hidden: set[str]) -> dict[str, dict[str, int]]:
        every = self.store.facets(filters, audience)
        without = self.store.facets(filters, audience, list(hidden)) if hidden else {}
        left = {
            facet: {slug: count - without.get(facet, {}).get(slug, 0) for slug, count in values.items()}
            for facet, values in every.items()
        }
        shown = {facet: {slug: n for slug, n in values.items() if n} for facet, values in left.items()}
        return {facet: values for facet, values in shown.items() if values}


def _question(request: Request) -> Question:
    # A form sends other ends of lines than an address that somebody wrote.
    text = request.text.replace("\r\n", "\n")
    return ("search", text, filters_told(request.filters), request.audience)


def _ids(ranked: Sequence[Ranked]) -> tuple[str, ...]:
    return tuple(item.id for item in ranked)


def _asks(query: Query, filters: Filters) -> bool:
    # A query of stop words alone asks for nothing; an empty one, or one of exclusions alone, browses.
    return bool(filters.all_of or filters.none_of or query.exclude) or not query.raw.strip()


def _held(text: str, wanted: AbstractSet[str]) -> frozenset[str]:
    # Tokens are letters and digits between blanks, so a search in the text is exact, and faster than a set.
    return frozenset(token for token in wanted if f" {token} " in text)


def _joined(first: Filters, second: Filters) -> Filters:
    return replace(
        first,
        all_of=tuple(dict.fromkeys([*first.all_of, *second.all_of])),
        none_of=tuple(dict.fromkeys([*first.none_of, *second.none_of])),
    )


def _allowed(borne: frozenset[Tag], filters: Filters) -> bool:
    shown = (
        filters.withdrawn or ("status", "withdrawn") in filters.all_of or ("status", "withdrawn") not in borne
    )
    return shown and borne.issuperset(filters.all_of) and borne.isdisjoint(filters.none_of)
