"""Whoever walks through a list gets all that was in it at the beginning exactly once, whatever is added meanwhile.

Every list of the doors is walked on two replicas in turn, while records come in between the parts.
"""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pilotage.core.settings import Settings
from pilotage.library.catalogue import Catalogue
from pilotage.library.search.engine import CANDIDATES
from pilotage.library.search.engine import Request as SearchRequest
from pilotage.library.stores.opening import open_store
from pilotage.library.stores.protocol import NO_FILTERS, Filters
from pilotage.web.api import answers
from pilotage.web.api.answers import Reader
from pilotage.web.api.changes import changes_after
from pilotage.web.mcp.finding import FindingTools
from rig.rest import fill, put, record

WORDS = ("ingress", "pods", "memory", "restart", "haproxy", "overloaded", "timeout", "queue", "dns", "zone")
QUERY = "ingress pods out of memory after a restart"
PAIRS = (("pods", "memory"), ("pods", "restart"), ("memory", "restart"), ("pods", "queue"), ("memory", "dns"))
"""Words of the records that are alike: each holds a part of the query."""
INGRESS = Filters(all_of=(("component", "ingress"),))
ASKED = "start-0"
ALIKE = {
    "components": ["ingress", "haproxy"],
    "symptoms": ["oom-killed"],
    "root_cause": "capacity-exhausted",
    "contributing": ["retry-storm"],
}


def told(id_: str, words: list[str], number: int) -> dict[str, Any]:
    text = " ".join(words)
    return record(
        id_,
        f"The {text} went wrong",
        "장애",
        date=f"20{10 + number % 14}-0{1 + number % 9}-11",
        org=f"Org {number % 7}",
        org_slug=f"org-{number % 7}",
        **(ALIKE if "ingress" in words else {"components": ["etcd"], "root_cause": "hardware-failure"}),
        summary={"en": f"There was trouble with {text}.", "ko": "장애"},
    )


class Walked(NamedTuple):
    ids: list[str]
    next: str | None


Listed = Callable[[Reader, str | None, int], Walked]


def search(text: str, filters: Filters = NO_FILTERS) -> Listed:
    def part(reader: Reader, cursor: str | None, limit: int) -> Walked:
        found = answers.search(reader, SearchRequest(text, filters, limit=limit, cursor=cursor))
        return Walked([hit["id"] for hit in found["hits"]], found["next"])

    return part


def of(ask: Callable[[Reader, str | None, int], dict[str, Any]], items: str, key: str = "id") -> Listed:
    def part(reader: Reader, cursor: str | None, limit: int) -> Walked:
        found = ask(reader, cursor, limit)
        return Walked([item[key] for item in found[items]], found["next"])

    return part


def tool(reader: Reader, cursor: str | None, limit: int) -> dict[str, Any]:
    tools = FindingTools(Settings(), reader.catalogue)
    return tools.search_incidents(QUERY, cursor=cursor, limit=limit, max_tokens=1000).model_dump()


RANKED: dict[str, Listed] = {
    "search": search(QUERY),
    "search with a filter": search(QUERY, INGRESS),
    "related": of(lambda r, cursor, limit: answers.related(r, ASKED, limit=limit, cursor=cursor), "hits"),
    "search_incidents": of(tool, "items"),
}
ORDERED: dict[str, Listed] = {
    "search without a query": search(""),
    "search with an exclusion alone": search("-zone"),
    "incidents": of(
        lambda r, cursor, limit: answers.incidents(r, INGRESS, limit=limit, cursor=cursor), "items"
    ),
    "topics": of(lambda r, cursor, limit: answers.topic(r, INGRESS, limit=limit, cursor=cursor), "cases"),
    "organisations": of(
        lambda r, cursor, limit: answers.organisations(r, limit=limit, cursor=cursor), "items", "slug"
    ),
}


class Replicas(NamedTuple):
    """Two processes on one store."""

    first: Reader
    second: Reader

    def add(self, documents: list[dict[str, Any]]) -> None:
        put(self.first.catalogue.store, documents)


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cursors") / "library.db"
    alike = [told(f"start-{n}", ["ingress", *words], n) for n, words in enumerate(PAIRS)]
    fill(str(path), [*alike, *(told(f"other-{n}", ["zone", "dns", f"sector{n}"], n) for n in range(30))])
    return path


@pytest.fixture
def opened(begun: Path, tmp_path: Path) -> Iterator[Callable[[], Replicas]]:
    stores = []

    def again() -> Replicas:
        copied = tmp_path / f"{len(stores)}.db"
        shutil.copy(begun, copied)
        stores.extend(open_store(str(copied)) for _ in range(2))
        return Replicas(*(Reader(Catalogue(store), "public", "en") for store in stores[-2:]))

    yield again
    for store in stores:
        store.close()


def walk(
    replicas: Replicas, listed: Listed, limit: int, between: Iterator[list[dict[str, Any]]]
) -> list[str]:
    seen: list[str] = []
    cursor = None
    for reader in itertools.cycle(replicas):
        part = listed(reader, cursor, limit)
        assert len(part.ids) <= limit
        seen += part.ids
        cursor = part.next
        if cursor is None:
            return seen
        replicas.add(next(between, []))
    raise AssertionError("it never ends")


BETWEEN = st.lists(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6), max_size=4), max_size=6)


def coming(between: list[list[list[str]]]) -> Iterator[list[dict[str, Any]]]:
    number = itertools.count(100)
    for batch in between:
        yield [told(f"later-{n}", words, n) for words in batch for n in [next(number)]]


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from(sorted(RANKED)), limit=st.integers(1, 4), between=BETWEEN)
def test_ranked_lists_are_walked_as_they_began(
    opened: Callable[[], Replicas], name: str, limit: int, between: list[list[list[str]]]
) -> None:
    replicas = opened()
    before = walk(replicas, RANKED[name], 50, iter(()))
    assert len(before) >= 4
    assert walk(replicas, RANKED[name], limit, coming(between)) == before


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from(sorted(ORDERED)), limit=st.integers(1, 4), between=BETWEEN)
def test_ordered_lists_are_walked_in_their_order(
    opened: Callable[[], Replicas], name: str, limit: int, between: list[list[list[str]]]
) -> None:
    replicas = opened()
    before = walk(replicas, ORDERED[name], 50, iter(()))
    assert len(before) >= 4
    seen = walk(replicas, ORDERED[name], limit, coming(between))
    assert len(seen) == len(set(seen))
    assert [id_ for id_ in seen if id_ in before] == before


def test_hits_that_others_have_displaced_still_come(opened: Callable[[], Replicas]) -> None:
    replicas = opened()
    for name in ("search", "related"):
        begun = RANKED[name](replicas.first, None, 2)
        expected = walk(replicas, RANKED[name], 50, iter(()))
        better = [told(f"better-{name}-{n}", [*WORDS[:4], "after", "out"], 1) for n in range(CANDIDATES + 10)]
        replicas.add(better)
        assert not {*expected} & {*walk(replicas, RANKED[name], 200, iter(()))[:10]}
        rest = RANKED[name](replicas.second, begun.next, 50)
        assert [*begun.ids, *rest.ids] == expected
        replicas = opened()


def test_what_was_withdrawn_meanwhile_does_not_come(opened: Callable[[], Replicas]) -> None:
    replicas = opened()
    begun = RANKED["search"](replicas.first, None, 2)
    expected = walk(replicas, RANKED["search"], 50, iter(()))
    gone = replicas.first.catalogue.stored(expected[3], "public").document
    replicas.add([gone | {"status": "withdrawn", "withdrawn_reason": {"en": "Wrong.", "ko": "오류"}}])
    rest = RANKED["search"](replicas.second, begun.next, 50)
    assert [*begun.ids, *rest.ids] == [id_ for id_ in expected if id_ != expected[3]]


def test_the_delta_feed_misses_nothing(opened: Callable[[], Replicas]) -> None:
    replicas = opened()
    seen: list[str] = []
    since, more = None, True
    later = coming([[["dns"]], [["zone"], ["queue"]]])
    while more:
        found = changes_after(replicas.second.catalogue.store, since, "public", limit=3)
        seen += [item["id"] for item in found["items"]]
        replicas.add(next(later, []))
        since, more = found["next"], found["has_more"]
    assert sorted(seen) == sorted(replicas.first.catalogue.store.ids("public"))
    again = changes_after(replicas.second.catalogue.store, since, "public", limit=3)
    assert (again["items"], again["has_more"]) == ([], False)
    assert again["next"]
