"""The tools that find incidents: search_incidents, list_incidents, get_topic."""

from __future__ import annotations

from typing import Any

from pilotage.core.errors import InvalidInput
from pilotage.core.settings import Settings
from pilotage.library.catalogue import Catalogue
from pilotage.library.insight.topics import Topic
from pilotage.library.record import Lang, read_record
from pilotage.library.search.answer import Answer
from pilotage.library.search.engine import Request
from pilotage.library.stores.protocol import Filters, Tag
from pilotage.library.terms import FACET_OF
from pilotage.web.mcp.answers import (
    Companion,
    Counted,
    Hit,
    LessonGroup,
    ListAnswer,
    SearchAnswer,
    TopicAnswer,
    TopicReport,
)
from pilotage.web.mcp.arguments import (
    AsFacets,
    Cursor,
    Facets,
    Format,
    Language,
    Limit,
    MaxTokens,
    Query,
    TopicFacets,
)
from pilotage.web.mcp.asking import audience, default_language
from pilotage.web.mcp.budget import DEFAULT_TOKENS, fitted, size_of
from pilotage.web.mcp.paging import paged, whole_items
from pilotage.web.mcp.reading import bare, case_item, clean, hit_item, item_of, suggested, terms_of

_COUNTED_FACETS = ("component", "symptom", "root_cause", "contributing", "organisation", "year")
_MOST_COUNTED = 5
_MOST_CORRECTIONS = 8
_COMPANIONS = {"concise": 3, "detailed": 12}
_SHARE_OF_COMPANIONS = 0.35
_SHARE_OF_LESSONS = 0.2
_ADVICE = (
    "Nothing in the library matches well enough to be shown; say so rather than guess. Another try may "
    "help: describe what is seen (symptom, component, error text), use a suggested term as facet=slug, or "
    "leave facet out."
)


class FindingTools:
    """The tools that find incidents.

    Args:
        settings: for the language.
        catalogue: the answers.
    """

    def __init__(self, settings: Settings, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._default = default_language(settings)

    def search_incidents(  # noqa: PLR0913, PLR0917 - the SDK makes the arguments of the tool from these
        self,
        q: Query,
        facet: AsFacets = [],  # noqa: B006 - pydantic copies it
        lang: Language = None,
        limit: Limit = 10,
        cursor: Cursor = None,
        response_format: Format = "concise",
        max_tokens: MaxTokens = DEFAULT_TOKENS,
    ) -> SearchAnswer:
        """See `DESCRIPTIONS`."""
        if not q.strip():
            raise InvalidInput(
                "q is empty", hint="Describe what is seen; list_incidents lists without a query."
            )
        spoken, detailed = lang or self._default, response_format == "detailed"
        answer = self._catalogue.search(
            Request(
                text=q,
                filters=Filters(all_of=self._catalogue.tags(facet, audience())),
                audience=audience(),
                lang=spoken,
                limit=limit,
                cursor=cursor,
                facets=detailed,
            )
        )
        items = [
            hit_item(hit, spoken, vocabulary=self._catalogue.vocabulary, detailed=detailed)
            for hit in answer.hits
        ]

        def build(count: int) -> SearchAnswer:
            shown = whole_items(items, count, bare)
            made = self._search_answer(answer, shown, spoken)
            paged(made, len(items), answer.onward)
            if answer.no_good_match:
                made.note = _ADVICE
            return made

        made = fitted(build, len(items), max_tokens)
        return self._with_counts(made, answer, spoken, max_tokens) if detailed else made

    def _search_answer(self, answer: Answer, items: list[Hit], lang: Lang) -> SearchAnswer:
        return SearchAnswer(
            total=answer.total,
            shown=len(items),
            no_good_match=answer.no_good_match,
            confidence=round(answer.confidence, 2),
            suggestions=suggested(answer.suggestions, FACET_OF, lang) or None,
            understood={clean(typed): meant for typed, meant in answer.corrections[:_MOST_CORRECTIONS]}
            or None,
            read_as_paste=answer.pasted or None,
            items=items,
        )

    def _with_counts(self, made: SearchAnswer, answer: Answer, lang: Lang, max_tokens: int) -> SearchAnswer:
        counts = {
            facet: [
                Counted(slug=clean(slug), label=clean(self._label(facet, slug, lang)), count=count)
                for slug, count in sorted(answer.facets[facet].items(), key=lambda pair: (-pair[1], pair[0]))
            ][:_MOST_COUNTED]
            for facet in _COUNTED_FACETS
            if answer.facets.get(facet)
        }
        fuller = made.model_copy(update={"facet_counts": counts or None})
        return fuller if size_of(fuller) <= max_tokens else made

    def list_incidents(  # noqa: PLR0913, PLR0917 - the SDK makes the arguments of the tool from these
        self,
        facet: Facets = [],  # noqa: B006 - pydantic copies it
        lang: Language = None,
        limit: Limit = 20,
        cursor: Cursor = None,
        response_format: Format = "concise",
        max_tokens: MaxTokens = DEFAULT_TOKENS,
    ) -> ListAnswer:
        """See `DESCRIPTIONS`."""
        spoken, detailed = lang or self._default, response_format == "detailed"
        tags = self._catalogue.tags(facet, audience())
        filters = Filters(all_of=tags)
        page = self._catalogue.page(filters, audience(), limit=limit, cursor=cursor)
        vocabulary = self._catalogue.vocabulary
        items = [
            item_of(
                read_record(stored.document, where=stored.id),
                spoken,
                private=stored.private,
                vocabulary=vocabulary,
                detailed=detailed,
            )
            for stored in page.items
        ]

        def build(count: int) -> ListAnswer:
            shown = whole_items(items, count, bare)
            made = ListAnswer(
                total=page.total,
                shown=len(shown),
                filters=terms_of(tags, self._catalogue, spoken) or None,
                items=shown,
            )
            paged(made, len(items), page.onward)
            if not page.total:
                made.note = "No incident bears all of these terms together; leave one out."
            return made

        return fitted(build, len(items), max_tokens)

    def get_topic(  # noqa: PLR0913, PLR0917 - the SDK makes the arguments of the tool from these
        self,
        facet: TopicFacets,
        lang: Language = None,
        limit: Limit = 10,
        cursor: Cursor = None,
        response_format: Format = "concise",
        max_tokens: MaxTokens = DEFAULT_TOKENS,
    ) -> TopicAnswer:
        """See `DESCRIPTIONS`."""
        spoken = lang or self._default
        tags = self._catalogue.tags(facet, audience())
        topic = self._catalogue.topic(tags, audience(), spoken, limit=limit, cursor=cursor)
        items = [case_item(case) for case in topic.cases]
        frame = self._topic_frame(topic, tags, spoken)
        if cursor is None:
            # What the incidents have in common is said once, with the first of them.
            _add_companions(
                frame, topic, spoken, _COMPANIONS[response_format], int(max_tokens * _SHARE_OF_COMPANIONS)
            )
            if response_format == "detailed":
                _add_lessons(frame, topic, spoken, int(max_tokens * _SHARE_OF_LESSONS))

        def build(count: int) -> TopicAnswer:
            shown = whole_items(items, count, bare)
            made = frame.model_copy(update={"items": shown, "shown": len(shown)})
            paged(made, len(items), topic.onward)
            if not topic.total:
                made.note = "No incident bears all of these terms together; leave one out."
            return made

        return fitted(build, len(items), max_tokens)

    def _topic_frame(self, topic: Topic, tags: tuple[Tag, ...], lang: Lang) -> TopicAnswer:
        return TopicAnswer(
            total=topic.total,
            shown=0,
            terms=terms_of(tags, self._catalogue, lang),
            base=topic.base,
            first=topic.span.first,
            last=topic.span.last,
            summary=clean(topic.summary(lang)),
            items=[],
        )

    def _label(self, facet: str, slug: str, lang: Lang) -> str:
        return self._catalogue.vocabulary.facet_label(facet, slug, lang)


def _add_companions(frame: TopicAnswer, topic: Topic, lang: Lang, most: int, budget: int) -> None:
    kept: dict[str, list[Companion]] = {}
    for facet, terms in topic.companions.items():
        if not terms:
            continue
        found = [
            Companion(
                slug=clean(term.slug),
                label=clean(term.label[lang]),
                n=term.n,
                of=term.of,
                base_n=term.base_n,
                base_of=term.base_of,
                lift=round(term.lift, 2),
            )
            for term in terms[:most]
        ]
        if _cost(frame, companions={**kept, facet: found}) > budget:
            frame.left_out = [*(frame.left_out or []), f"companions.{facet}"]
        else:
            kept[facet] = found
    frame.companions = kept or None


def _add_lessons(frame: TopicAnswer, topic: Topic, lang: Lang, budget: int) -> None:
    kept: list[LessonGroup] = []
    for shared in topic.lessons:
        group = LessonGroup(
            words=[clean(word) for word in shared.words],
            lessons={lesson.id: clean(lesson.text[lang]) for lesson in shared.lessons},
        )
        if _cost(frame, report=TopicReport(lessons=[*kept, group])) > budget:
            frame.left_out = [*(frame.left_out or []), "report.lessons"]
            break
        kept.append(group)
    frame.report = TopicReport(lessons=kept) if kept else None


def _cost(frame: TopicAnswer, **parts: Any) -> int:
    bare_frame = frame.model_copy(update={"companions": None, "report": None})
    return size_of(bare_frame.model_copy(update=parts)) - size_of(bare_frame)
