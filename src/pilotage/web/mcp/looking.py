"""The tools that look at what is known: get_incident, related_incidents, vocab."""

from __future__ import annotations

from typing import Any

from pilotage.core.cursors import cut
from pilotage.core.errors import NotFound
from pilotage.core.settings import Settings
from pilotage.library.catalogue import Catalogue
from pilotage.library.insight.reasons import Reason as LibraryReason
from pilotage.library.insight.reasons import TermEvidence
from pilotage.library.insight.related import RelatedHit
from pilotage.library.record import Lang, Record, read_record
from pilotage.library.stores.protocol import Filters, Stored
from pilotage.library.terms import FACET_OF, KINDS, Term
from pilotage.web.mcp.answers import (
    KindOfTerm,
    Reason,
    RelatedAnswer,
    RelatedItem,
    RelatedReport,
    VocabAnswer,
    VocabularyTerm,
)
from pilotage.web.mcp.arguments import (
    Cursor,
    Format,
    Id,
    KindName,
    Language,
    Limit,
    MaxTokens,
    Sections,
    TermQuery,
)
from pilotage.web.mcp.asking import audience, default_language
from pilotage.web.mcp.budget import DEFAULT_TOKENS, MOST_TOKENS, fitted, size_of
from pilotage.web.mcp.details import IncidentAnswer, IncidentReport, Relative, Section
from pilotage.web.mcp.paging import paged, whole_items
from pilotage.web.mcp.reading import clean, known_date
from pilotage.web.mcp.sections import CONCISE, SECTIONS, not_stated, section_of
from pilotage.web.mcp.words import Likeness, kind_named, like_ids, terms_in_force, terms_like

_RELATED_SHOWN = 5
_NO_TERM = (
    "No term is like that. The vocabulary has no word for it: search_incidents still finds incidents by "
    "free text, and vocab with a kind lists all terms of it."
)


class LookingTools:
    """The tools that look at one incident or at the vocabulary.

    Args:
        settings: for the language.
        catalogue: the answers.
    """

    def __init__(self, settings: Settings, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._default = default_language(settings)

    def get_incident(
        self,
        id: Id,  # noqa: A002 - the field's word
        lang: Language = None,
        sections: Sections = [],  # noqa: B006 - pydantic copies it
        response_format: Format = "concise",
        max_tokens: MaxTokens = DEFAULT_TOKENS,
    ) -> IncidentAnswer:
        """See `DESCRIPTIONS`."""
        spoken = lang or self._default
        stored = self._stored(id)
        record = read_record(stored.document, where=stored.id)
        wanted = set(sections) or set(CONCISE if response_format == "concise" else SECTIONS)
        contents = {
            name: content
            for name in SECTIONS
            if name in wanted and (content := self._section(name, record, spoken)) is not None
        }
        return _fitted_sections(_frame(record, stored, id), contents, max_tokens)

    def _stored(self, name: str) -> Stored:
        try:
            return self._catalogue.stored(name, audience())
        except NotFound as error:
            # An agent often keeps the gist of an id and loses its end, which is no mere slip of the fingers.
            near = like_ids(name, self._catalogue.store.ids(audience()))
            if not near:
                raise
            hint = f"Did you mean {' or '.join(repr(known) for known in near)}?"
            raise NotFound(f"no record '{name[:120]}'", hint=hint) from error

    def _section(self, name: Section, record: Record, lang: Lang) -> Any:
        if name != "related":
            return section_of(name, record, lang, self._catalogue.vocabulary)
        found = self._catalogue.related(record.id, audience(), lang, limit=_RELATED_SHOWN)
        return [_relative(hit, lang) for hit in found.hits] or None

    def related_incidents(  # noqa: PLR0913, PLR0917 - the SDK makes the arguments of the tool from these
        self,
        id: Id,  # noqa: A002 - the field's word
        lang: Language = None,
        limit: Limit = 5,
        cursor: Cursor = None,
        response_format: Format = "concise",
        max_tokens: MaxTokens = DEFAULT_TOKENS,
    ) -> RelatedAnswer:
        """See `DESCRIPTIONS`."""
        spoken = lang or self._default
        # Asked first, because its error names the nearest ids.
        own = self._stored(id).id
        found = self._catalogue.related(own, audience(), spoken, limit=limit, cursor=cursor)
        items = [_related_item(hit, spoken, detailed=response_format == "detailed") for hit in found.hits]

        def build(count: int) -> RelatedAnswer:
            shown = whole_items(items, count, lambda item: RelatedItem(id=item.id, too_large=True))
            made = RelatedAnswer(
                id=own, total=found.total, shown=len(shown), threshold=found.threshold, items=shown
            )
            paged(made, len(items), found.onward)
            if not found.total:
                made.note = "No incident of the library is like this one; that is an answer, not a failure."
            return made

        return fitted(build, len(items), max_tokens)

    def vocab(  # noqa: PLR0913, PLR0917 - the SDK makes the arguments of the tool from these
        self,
        kind: KindName = None,
        q: TermQuery = None,
        lang: Language = None,
        limit: Limit = 20,
        cursor: Cursor = None,
        max_tokens: MaxTokens = DEFAULT_TOKENS,
    ) -> VocabAnswer:
        """See `DESCRIPTIONS`."""
        spoken = lang or self._default
        chosen = kind_named(kind) if kind else None
        if chosen is None and not (q and q.strip()):
            return self._kinds()
        question = ("vocab", chosen, q)
        found = cut(self._terms(chosen, q), _order, size=3, limit=limit, cursor=cursor, question=question)
        items = self._shown_terms(found.items, spoken)

        def build(count: int) -> VocabAnswer:
            shown = whole_items(items, count, lambda item: item.model_copy(update={"synonyms": None}))
            made = VocabAnswer(total=found.total, shown=len(shown), terms=shown)
            paged(made, len(items), found.onward)
            if not found.total:
                made.no_good_match, made.note = True, _NO_TERM
            return made

        return fitted(build, len(items), max_tokens)

    def _kinds(self) -> VocabAnswer:
        vocabulary = self._catalogue.vocabulary
        kinds = [
            KindOfTerm(
                kind=kind,
                facet=FACET_OF[kind],
                terms=len(terms_in_force(vocabulary, kind)),
                version=vocabulary.versions[kind],
            )
            for kind in KINDS
        ]
        return VocabAnswer(kinds=kinds, total=sum(kind.terms for kind in kinds), shown=0, terms=[])

    def _terms(self, kind: str | None, query: str | None) -> list[Likeness]:
        terms = terms_in_force(self._catalogue.vocabulary, kind)
        if query and query.strip():
            return terms_like(query, terms, self._catalogue.lexicon)
        return [Likeness(term, 0.0, "") for term in sorted(terms, key=lambda term: (term.kind, term.slug))]

    def _shown_terms(self, found: list[Likeness], lang: Lang) -> list[VocabularyTerm]:
        borne = self._catalogue.store.facets(Filters(), audience())
        return [_term(like, borne.get(FACET_OF[like.term.kind], {}), lang) for like in found]


def _order(like: Likeness) -> tuple[str, str, str]:
    return f"{1 - like.score:.2f}", like.term.kind, like.term.slug


def _frame(record: Record, stored: Stored, asked: str) -> IncidentAnswer:
    return IncidentAnswer(
        id=record.id,
        alias=asked if asked != record.id else None,
        date=known_date(record.date, record.date_precision),
        date_kind=record.date_kind,
        status=record.status,
        private=stored.private or None,
        revision=stored.revision,
        not_stated=not_stated(record),
        report=IncidentReport(),
    )


def _fitted_sections(frame: IncidentAnswer, contents: dict[Section, Any], max_tokens: int) -> IncidentAnswer:
    whole = _with_sections(frame, contents)
    if size_of(whole) <= max_tokens:
        return whole
    # Room is kept for a note that names every section, whichever of them will be left out.
    reserved = _with_note(frame, dict.fromkeys(contents, MOST_TOKENS), max_tokens)
    kept: dict[Section, Any] = {}
    too_large: dict[Section, int] = {}
    for name, content in contents.items():
        if size_of(_with_sections(reserved, {**kept, name: content})) <= max_tokens:
            kept[name] = content
        else:
            too_large[name] = size_of(_with_sections(frame, {name: content})) - size_of(frame)
    return _with_note(_with_sections(frame, kept), too_large, max_tokens)


def _with_sections(answer: IncidentAnswer, contents: dict[Section, Any]) -> IncidentAnswer:
    sections = {str(name): content for name, content in contents.items()}
    return answer.model_copy(update={"report": answer.report.model_copy(update=sections)})


def _with_note(answer: IncidentAnswer, too_large: dict[Section, int], max_tokens: int) -> IncidentAnswer:
    largest = max(too_large.values())
    note = (
        f"To keep within max_tokens={max_tokens}, whole sections were left out. Ask for them by sections; "
        f"the largest takes about {largest} tokens"
    )
    if largest + 500 > MOST_TOKENS:
        note += f" and is only to be had whole, as the resource incident://{answer.id}"
    return answer.model_copy(update={"left_out": [str(name) for name in too_large], "note": note + "."})


def _relative(hit: RelatedHit, lang: Lang) -> Relative:
    return Relative(id=hit.id, title=clean(hit.title), score=hit.score, why=clean(hit.why(lang)))


def _related_item(hit: RelatedHit, lang: Lang, *, detailed: bool) -> RelatedItem:
    return RelatedItem(
        id=hit.id,
        date=known_date(hit.date, hit.date_precision),
        score=hit.score,
        hand_made=hit.hand_made or None,
        report=RelatedReport(
            title=clean(hit.title),
            organisation=clean(hit.organisation) if hit.organisation else None,
            why=clean(hit.why(lang)),
            reasons=[_reason(reason, lang) for reason in hit.reasons] if detailed else None,
        ),
    )


def _reason(reason: LibraryReason, lang: Lang) -> Reason:
    evidence = reason.evidence
    share = f"{evidence.n} of {evidence.of}" if isinstance(evidence, TermEvidence) else None
    return Reason(kind=reason.kind, weight=reason.weight, text=clean(reason.text(lang)), share=share)


def _term(like: Likeness, borne: dict[str, int], lang: Lang) -> VocabularyTerm:
    term: Term = like.term
    return VocabularyTerm(
        kind=term.kind,
        facet=FACET_OF[term.kind],
        slug=term.slug,
        label=term.label.get(lang, term.slug),
        definition=term.definition.get(lang),
        synonyms=list(dict.fromkeys([*term.synonyms.get("en", ()), *term.synonyms.get("ko", ())])) or None,
        parent=term.parent,
        incidents=borne.get(term.slug, 0),
        similarity=like.score or None,
        matched=like.name or None,
    )
