"""What a search answers. The same shape for the command line, REST and MCP."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pilotage.core.cursors import Onward, Part
from pilotage.library.record import Lang, Record
from pilotage.library.search.snippets import Snippet
from pilotage.library.terms import FACET_OF, Term, Vocabulary

FIELD_LABELS: dict[str, dict[Lang, str]] = {
    "title": {"en": "title", "ko": "제목"},
    "summary": {"en": "summary", "ko": "요약"},
    "symptoms_text": {"en": "symptoms", "ko": "증상"},
    "trigger": {"en": "trigger", "ko": "촉발 요인"},
    "detection": {"en": "detection", "ko": "감지"},
    "lessons": {"en": "lessons", "ko": "교훈"},
    "mechanism": {"en": "mechanism", "ko": "메커니즘"},
    "root_causes": {"en": "root cause", "ko": "근본 원인"},
    "contributing": {"en": "contributing factors", "ko": "기여 요인"},
    "events": {"en": "timeline", "ko": "타임라인"},
    "remediation": {"en": "remediation", "ko": "조치"},
    "action_items": {"en": "follow-up", "ko": "후속 조치"},
    "impact": {"en": "impact", "ko": "영향"},
    "disagreement": {"en": "disagreement of sources", "ko": "출처 간 불일치"},
    "times": {"en": "times", "ko": "시각"},
    "phrase": {"en": "how people put it", "ko": "비슷한 표현"},
    "symptoms": {"en": "symptoms", "ko": "증상"},
}
_SHOWN_FIELDS = 3


@dataclass(frozen=True)
class Why:
    """Why a record is among the hits.

    Attributes:
        terms: vocabulary terms that the query speaks of and the record bears.
        words: words of the query that the record holds.
        fields: fields that hold these words; empty when only its phrases do.
        snippets: the best passages.
        semantic: share of the score that comes from likeness of meaning, 0 to 1.
        nearest: the part of the record that is nearest in meaning, or nothing.
        dates: dates of the query that are the record's.
    """

    terms: tuple[Term, ...] = ()
    words: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    snippets: tuple[Snippet, ...] = ()
    semantic: float = 0.0
    nearest: str = ""
    dates: tuple[str, ...] = ()

    def line(self, lang: Lang) -> str:
        """One line in words."""
        parts = [term.label.get(lang) or term.label.get("en", term.slug) for term in self.terms]
        parts += list(self.dates)
        fields = dict.fromkeys(FIELD_LABELS.get(name, {}).get(lang, name) for name in self.fields)
        if self.words:
            quoted = ", ".join(f"'{word}'" for word in self.words[:6])
            place = ", ".join(list(fields)[:_SHOWN_FIELDS]) or (
                "phrases like it" if lang == "en" else "비슷한 표현"
            )
            parts.append(f"{quoted} in {place}" if lang == "en" else f"{quoted} ({place})")
        if self.semantic >= 0.15:  # noqa: PLR2004 - less than that is not worth a reader's while
            share = round(self.semantic * 100)
            where = FIELD_LABELS.get(self.nearest, {}).get(lang, self.nearest)
            if lang == "en":
                parts.append(f"{share} % of the score from likeness of meaning (nearest: {where})")
            else:
                parts.append(f"점수의 {share}%는 의미 유사도 (가장 가까운 부분: {where})")
        return " · ".join(parts)

    def to_json(self, lang: Lang) -> dict[str, Any]:
        """The documented JSON shape."""
        return {
            "text": self.line(lang),
            "terms": [
                {"facet": FACET_OF[term.kind], "slug": term.slug, "label": term.label.get(lang, term.slug)}
                for term in self.terms
            ],
            "words": list(self.words),
            "fields": list(self.fields),
            "snippets": [
                {"field": s.field, "lang": s.lang, "text": s.text, "marks": [list(mark) for mark in s.marks]}
                for s in self.snippets
            ],
            "semantic_share": round(self.semantic, 3),
            "nearest_part": self.nearest or None,
            "dates": list(self.dates),
        }


@dataclass(frozen=True)
class Hit:
    """One record that matches."""

    record: Record
    private: bool
    score: float
    why: Why

    def to_json(self, lang: Lang) -> dict[str, Any]:
        """The documented JSON shape."""
        record = self.record
        return {
            "id": record.id,
            "aliases": list(record.aliases),
            "organisation": record.org,
            "date": record.date,
            "date_kind": record.date_kind,
            "date_precision": record.date_precision,
            "title": record.title.get(lang) if record.title else "",
            "status": record.status,
            "private": self.private,
            "score": round(self.score, 4),
            "why": self.why.to_json(lang),
            "sources": [source.url for source in record.sources or []],
        }


@dataclass(frozen=True)
class Answer:
    """What a search found.

    Attributes:
        query: as typed.
        total: number of records that are good enough.
        no_good_match: whether none is; `hits` is empty then.
        suggestions: terms that the query may mean.
        hits: the asked-for part of the records, best first.
        onward: where the answer goes on.
        facets: facet -> slug -> number, over all that are good enough.
        used: the words and terms that the answer rests on.
        pasted: whether the query was read as a paste.
        clipped: whether only its beginning was read.
        corrections: typed word -> the name that was understood.
        semantic: name of the embedder, or nothing.
        confidence: how sure it is that the best hit is one, 0 to 1.
    """

    query: str
    total: int
    no_good_match: bool
    suggestions: tuple[Term, ...]
    hits: tuple[Hit, ...]
    onward: Onward = field(default_factory=Part)
    facets: dict[str, dict[str, int]] = field(default_factory=dict)
    used: tuple[str, ...] = ()
    pasted: bool = False
    clipped: bool = False
    corrections: tuple[tuple[str, str], ...] = ()
    semantic: str = ""
    confidence: float = 0.0

    def to_json(self, lang: Lang, vocabulary: Vocabulary) -> dict[str, Any]:
        """The documented JSON shape."""
        return {
            "query": self.query,
            "total": self.total,
            "no_good_match": self.no_good_match,
            "suggestions": [
                {"facet": FACET_OF[term.kind], "slug": term.slug, "label": term.label.get(lang, term.slug)}
                for term in self.suggestions
            ],
            "hits": [hit.to_json(lang) for hit in self.hits],
            "next": self.onward.next,
            "facets": {
                facet: [
                    {"slug": slug, "label": vocabulary.facet_label(facet, slug, lang), "count": count}
                    for slug, count in sorted(values.items(), key=lambda pair: (-pair[1], pair[0]))
                ]
                for facet, values in self.facets.items()
            },
            "used": list(self.used),
            "pasted": self.pasted,
            "clipped": self.clipped,
            "corrections": [{"typed": typed, "understood": meant} for typed, meant in self.corrections],
            "semantic": self.semantic or None,
            "confidence": round(self.confidence, 3),
        }
