"""Nothing that the public is told shows a trace of a private record."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pilotage.core.errors import PilotageError
from pilotage.library.catalogue import Catalogue
from pilotage.library.exporters.table import EXPORTERS
from pilotage.library.ingest import Ingest
from pilotage.library.record import Lang
from pilotage.library.search.engine import Request
from pilotage.library.stores.protocol import Filters, Match, Store
from pilotage.library.terms import FACETS
from rig.embedder import HashedWords
from unit.library.small_library import VOCABULARY, library, put, record

WORDS = [
    "ingress",
    "retry",
    "storm",
    "proxy",
    "quorum",
    "lost",
    "memory",
    "인그레스",
    "재시도",
    "폭풍",
    "쿼럼",
]
TERMS = {
    "domain": ["dns", "kubernetes"],
    "components": ["ingress", "haproxy", "zookeeper"],
    "symptoms": ["oom-killed", "uneven-load", "high-latency"],
    "contributing": ["retry-storm", "no-staged-rollout"],
}
EVERYTHING = Filters(withdrawn=True)
QUERIES = [
    *WORDS,
    "ingress retry storm",
    "인그레스 재시도 폭풍",
    "component:ingress",
    "org:acme",
    "2019",
    '"retry storm"',
    "ingres",
    "-proxy",
    "secretword",
]


def text() -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)


@st.composite
def public_records(draw: st.DrawFn) -> list[dict[str, Any]]:
    found = []
    for number in range(draw(st.integers(1, 6))):
        status = draw(st.sampled_from(["reviewed", "draft", "withdrawn"]))
        found.append(
            record(
                f"r{number}",
                org_slug=draw(st.sampled_from(["acme", "globex"])),
                date=draw(st.sampled_from(["2019-01-01", "2019-02-01", "2020-01-01", None])),
                title={"en": draw(text()), "ko": draw(text())},
                summary={"en": draw(text())},
                root_cause=draw(st.sampled_from(["software-bug", None])),
                timeline={"resolved_after": draw(st.sampled_from(["9m", "3h 54m", None]))},
                sources=[{"url": f"https://example.org/{draw(st.integers(0, 2))}", "kind": "blog"}],
                status=status,
                **({"withdrawn_reason": {"en": "x"}} if status == "withdrawn" else {}),
                **{
                    key: draw(st.lists(st.sampled_from(slugs), unique=True, max_size=2))
                    for key, slugs in TERMS.items()
                },
            )
        )
    return found


def private_records(public: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One that shares everything, one that nothing shares, one withdrawn; ids round those of the public."""
    everything = " ".join(WORDS)
    shared = record(
        "r",
        visibility="private",
        date="2019-01-01",
        title={"en": everything, "ko": everything},
        summary={"en": everything, "ko": everything},
        root_cause="software-bug",
        sources=[{"url": f"https://example.org/{number}", "kind": "blog"} for number in range(3)],
        related=[item["id"] for item in public],
        recurrence_of=public[0]["id"],
        timeline={"detected_after": "1m", "resolved_after": "9m"},
        **TERMS,
    )
    alone = record(
        "r00", visibility="private", org_slug="hidden-org", title="secretword", components=["secret-slug"]
    )
    withdrawn = shared | {
        "id": "zz",
        "status": "withdrawn",
        "withdrawn_reason": {"en": "x"},
        "aliases": ["r000"],
    }
    return [shared, alone, withdrawn]


def told(store: Store, embedder: HashedWords | None, public: list[dict[str, Any]]) -> dict[str, Any]:
    """Everything that the public can be told."""
    catalogue = Catalogue(store, embedder)
    ids = [item["id"] for item in public]
    asked: dict[str, Any] = {}
    langs: tuple[Lang, ...] = ("en", "ko")
    for query in QUERIES:
        for lang in langs:
            asked[f"search {query} {lang}"] = answered(
                lambda query=query, lang=lang: catalogue.search(
                    Request(query, EVERYTHING, lang=lang, limit=50, facets=True)
                ).to_json(lang, VOCABULARY)
            )
    for filters in (
        Filters(),
        EVERYTHING,
        Filters(all_of=(("component", "ingress"),)),
        Filters(none_of=(("component", "ingress"),)),
    ):
        asked[f"count {filters}"] = store.count(filters, "public")
        asked[f"facets {filters}"] = store.facets(filters, "public")
        asked[f"pairs {filters}"] = store.pairs("component", "symptom", filters, "public")
        page = catalogue.page(filters, "public", limit=2)
        asked[f"page {filters}"] = (page.total, [item.id for item in page.items], page.next)
        asked[f"statistics {filters}"] = catalogue.statistics("public", filters).to_json()
    for name in [*ids, "r", "r00", "r000", "zz", "nothing"]:
        asked[f"stored {name}"] = answered(lambda name=name: catalogue.stored(name, "public").document)
        asked[f"revisions {name}"] = [r.document for r in store.revisions(name, "public")]
        for lang in langs:
            asked[f"related {name} {lang}"] = answered(
                lambda name=name, lang=lang: catalogue.related(name, "public", lang, limit=50).to_json()
            )
    for terms in ([], [("component", "ingress")], [("organisation", "hidden-org")]):
        asked[f"topic {terms}"] = answered(
            lambda terms=terms: catalogue.topic(terms, "public", "en", limit=50).to_json()
        )
    asked["matrix"] = catalogue.matrix("component", "contributing", "public").to_json()
    asked["ids"] = store.ids("public")
    asked["tags"] = store.tags([*ids, "r", "zz"], "public")
    asked["columns"] = store.columns([*ids, "r", "zz"], "public")
    asked["sharing"] = store.sharing(
        {("component", "ingress"): 1.0, ("symptom", "oom-killed"): 0.3}, "public", limit=50
    )
    asked["match"] = store.match(Match(((1.0, (("ingress",), ("재시",))),)), EVERYTHING, "public", limit=50)
    asked["frequencies"] = store.frequencies(["ingress", "secretword", "재시"])
    asked["vectors"] = [(row.id, row.part, row.data) for row in store.vectors("hashed-words", "public")]
    asked["data_version"] = store.data_version("public")
    for facet in FACETS:
        asked[f"values of {facet}"] = answered(
            lambda facet=facet: catalogue.tags([f"{facet}=hidden-orgg"], "public")
        )
    for exporter in EXPORTERS:
        out = io.BytesIO()
        exporter.write(store.iterate(EVERYTHING, "public"), out)
        asked[f"export {exporter.name}"] = out.getvalue()
    return asked


def answered(ask: Any) -> Any:
    try:
        return ask()
    except PilotageError as error:
        return (error.code, error.message, error.hint)


@pytest.mark.slow
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(public_records(), st.booleans())
def test_the_public_is_told_the_same_with_and_without_private_records(
    public: list[dict[str, Any]], semantic: bool
) -> None:
    embedder = HashedWords() if semantic else None
    with library() as plain, library() as mixed:
        put(plain, public)
        first, *others = private_records(public)
        put(mixed, [first])
        put(mixed, public)
        put(mixed, others)
        put(mixed, [first | {"lessons": {"en": "Changed."}}])
        if embedder:
            for store in (plain, mixed):
                Ingest(store, VOCABULARY, embedder).run([])
        expected, got = told(plain, embedder, public), told(mixed, embedder, public)
        assert mixed.count(EVERYTHING, "all") == len(public) + 3
    assert got.keys() == expected.keys()
    for question, answer in expected.items():
        assert got[question] == answer, question
