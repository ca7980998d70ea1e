"""The token budget: fewer whole items, never cut text, and the answer says so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from pilotage.core.cursors import Part
from pilotage.core.settings import Settings
from pilotage.library.bundled import bundled_candidates
from pilotage.library.catalogue import Catalogue
from pilotage.library.stores.opening import open_store
from pilotage.web.mcp.answers import Item, ListAnswer, Report
from pilotage.web.mcp.budget import (
    DEFAULT_TOKENS,
    LEAST_TOKENS,
    MOST_TOKENS,
    fitted,
    size_of,
    tokens_of,
    wire,
)
from pilotage.web.mcp.finding import FindingTools
from pilotage.web.mcp.looking import LookingTools
from pilotage.web.mcp.paging import paged, whole_items
from pilotage.web.mcp.reading import bare
from rig.mcp_library import build

BUDGETS = st.integers(LEAST_TOKENS, MOST_TOKENS)
LIMITS = st.integers(1, 50)
FORMATS = st.sampled_from(["concise", "detailed"])
LANGS = st.sampled_from(["en", "ko"])
quick = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def test_korean_is_dearer_than_english() -> None:
    assert tokens_of("a" * 300) == 100
    assert tokens_of("장애" * 100) == 300
    assert tokens_of("") == 0


@given(texts=st.lists(st.text(max_size=3000), max_size=30), budget=BUDGETS)
def test_any_items_fit(texts: list[str], budget: int) -> None:
    items = [Item(id=f"item-{number}", report=Report(title=text)) for number, text in enumerate(texts)]

    def build(count: int) -> ListAnswer:
        shown = whole_items(items, count, bare)
        answer = ListAnswer(total=len(items), shown=len(shown), items=shown)
        keys = tuple((item.id,) for item in items)
        paged(answer, len(items), Part((), 0, keys))
        return answer

    answer = fitted(build, len(items), budget)
    assert size_of(answer) <= budget
    assert answer.shown + answer.omitted == len(items)
    assert answer.shown == len(answer.items)
    for given_, shown in zip(items, answer.items, strict=False):
        assert shown == given_ or (shown.too_large and shown.report is None)
    assert bool(answer.omitted) == bool(answer.note) == (answer.next is not None)
    if items:
        assert answer.items
    if answer.omitted and not answer.items[0].too_large:
        # One more would have been too much.
        assert size_of(build(answer.shown + 1)) > budget


def _whole(answer: BaseModel, largest: BaseModel) -> None:
    """Every item of the answer is also an item of the answer without a budget."""
    small, large = json.loads(wire(answer)), json.loads(wire(largest))
    for item in small["items"]:
        assert item in large["items"]


@quick
@given(budget=BUDGETS, limit=LIMITS, form=FORMATS, lang=LANGS)
def test_lists_keep_within_it(catalogue: Catalogue, budget: int, limit: int, form: Any, lang: Any) -> None:
    tools = FindingTools(Settings(), catalogue)
    asked: dict[str, Any] = {"limit": limit, "response_format": form, "lang": lang}
    calls = [
        lambda tokens: tools.search_incidents("component:ingress", max_tokens=tokens, **asked),
        lambda tokens: tools.list_incidents(["component=ingress"], max_tokens=tokens, **asked),
        lambda tokens: tools.get_topic(["component=ingress"], max_tokens=tokens, **asked),
    ]
    for call in calls:
        answer, whole = call(budget), call(1_000_000)
        assert size_of(answer) <= budget
        assert answer.shown + answer.omitted == whole.shown == min(limit, 25)
        assert answer.total == 25
        assert answer.has_more == (answer.shown < 25)
        assert bool(answer.omitted) == bool(answer.note)
        _whole(answer, whole)


@quick
@given(budget=BUDGETS, form=FORMATS, lang=LANGS)
def test_an_incident_leaves_out_whole_sections(
    catalogue: Catalogue, budget: int, form: Any, lang: Any
) -> None:
    tools = LookingTools(Settings(), catalogue)
    name = "acme-2018-01-01-retry-storm-00"
    answer = tools.get_incident(name, response_format=form, lang=lang, max_tokens=budget)
    whole = tools.get_incident(name, response_format=form, lang=lang, max_tokens=1_000_000)
    assert size_of(answer) <= budget
    small, large = json.loads(wire(answer))["report"], json.loads(wire(whole))["report"]
    assert all(small[section] == large[section] for section in small)
    assert set(answer.left_out or ()) == set(large) - set(small)
    assert whole.left_out is None


@quick
@given(budget=BUDGETS, limit=LIMITS, form=FORMATS, lang=LANGS)
def test_related_and_vocab_keep_within_it(
    catalogue: Catalogue, budget: int, limit: int, form: Any, lang: Any
) -> None:
    tools = LookingTools(Settings(), catalogue)
    name = "acme-2018-01-01-retry-storm-00"
    found = tools.related_incidents(name, lang, limit, None, form, budget)
    assert size_of(found) <= budget
    assert found.shown + found.omitted == min(limit, found.total)
    terms = tools.vocab("components", None, lang, limit, None, budget)
    assert size_of(terms) <= budget
    assert terms.shown + terms.omitted == min(limit, terms.total)


def test_a_section_too_large_for_any_answer_is_named(catalogue: Catalogue) -> None:
    answer = LookingTools(Settings(), catalogue).get_incident(
        "acme-2018-01-01-retry-storm-00", sections=["overview"], max_tokens=150
    )
    assert answer.left_out == ["overview"]
    assert "Ask for them by sections" in (answer.note or "")
    assert answer.id


@pytest.fixture(scope="module")
def long_records(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalogue]:
    """The longest records that are shipped."""
    documents = sorted((one.document for one in bundled_candidates()), key=lambda one: -len(json.dumps(one)))[
        :6
    ]
    store = open_store(build(tmp_path_factory.mktemp("long") / "library.db", documents))
    yield Catalogue(store)
    store.close()


@pytest.mark.parametrize("form", ["concise", "detailed"])
@pytest.mark.parametrize("lang", ["en", "ko"])
def test_real_records_keep_within_it(long_records: Catalogue, form: Any, lang: Any) -> None:
    tools = LookingTools(Settings(), long_records)
    for name in long_records.store.ids("public"):
        for budget in (LEAST_TOKENS, 1500, 2500, 4000, DEFAULT_TOKENS, 9000):
            answer = tools.get_incident(name, response_format=form, lang=lang, max_tokens=budget)
            assert size_of(answer) <= budget
            if form == "concise" and budget >= DEFAULT_TOKENS:
                assert answer.left_out is None
            for section in answer.left_out or ():
                alone = tools.get_incident(name, sections=[section], lang=lang)
                assert alone.left_out is None
