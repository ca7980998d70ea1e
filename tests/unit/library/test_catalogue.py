from __future__ import annotations

import base64
import json
from collections.abc import Iterator

import pytest

from pilotage.core.errors import InvalidInput, NotFound, UnknownTerm
from pilotage.library.catalogue import Catalogue
from pilotage.library.search.engine import Request
from pilotage.library.stores.protocol import Audience, Filters, Stored
from rig.embedder import HashedWords
from unit.library.small_library import library, put, record

DOCUMENTS = [
    record(
        "zk-2020",
        date="2020-05-05",
        title="ZooKeeper lost its quorum",
        aliases=["IL-1"],
        components=["zookeeper"],
    ),
    record("a-2019", date="2019-01-01"),
    record("b-2019", date="2019-01-01", org="Globex", org_slug="globex"),
    record("undated"),
    record("gone", date="2021-01-01", status="withdrawn", withdrawn_reason={"en": "Made up."}),
    record("secret", date="2022-01-01", visibility="private", org="Hidden", org_slug="hidden-org"),
]


@pytest.fixture
def catalogue() -> Iterator[Catalogue]:
    with library(*DOCUMENTS) as store:
        yield Catalogue(store)


def cursor(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def pages(catalogue: Catalogue, limit: int, **options: object) -> list[list[str]]:
    found, mark = [], None
    while True:
        page = catalogue.page(Filters(), options.get("audience", "public"), limit=limit, cursor=mark)
        found.append([stored.id for stored in page.items])
        mark = page.next
        if mark is None:
            return found


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 50])
def test_pages_put_together_are_the_whole_list(catalogue: Catalogue, limit: int) -> None:
    found = pages(catalogue, limit)
    assert [id_ for page in found for id_ in page] == ["zk-2020", "a-2019", "b-2019", "undated"]
    assert all(len(page) == limit for page in found[:-1])
    assert found[-1]
    assert catalogue.page(Filters(), "public", limit=limit).total == 4


def test_withdrawn_and_private_records_are_listed_only_when_asked_for(catalogue: Catalogue) -> None:
    shown = catalogue.page(Filters(withdrawn=True), "public", limit=10)
    assert shown.items[0].id == "gone"
    asked = catalogue.page(Filters(all_of=(("status", "withdrawn"),)), "public", limit=10)
    assert [stored.id for stored in asked.items] == ["gone"]
    assert pages(catalogue, 10, audience="all")[0][0] == "secret"


def test_a_cursor_stays_right_while_records_are_added(catalogue: Catalogue) -> None:
    first = catalogue.page(Filters(), "public", limit=2)
    put(catalogue.store, [record("new", date="2025-01-01")])
    second = catalogue.page(Filters(), "public", limit=2, cursor=first.next)
    assert [stored.id for stored in second.items] == ["b-2019", "undated"]


@pytest.mark.parametrize(
    "text",
    [
        "nonsense",
        "%%%",
        "가나다",
        "\udc80",
        cursor(["2019-01-01"]),
        cursor({"a": "b"}),
        cursor([1, 2]),
        cursor(["2019-01-01", "\ud800"]),
        cursor(["\x00", "a"]),
        base64.urlsafe_b64encode(b"[" * 100_000).decode(),
    ],
)
def test_what_is_no_cursor_is_refused(catalogue: Catalogue, text: str) -> None:
    with pytest.raises(InvalidInput, match="is no cursor"):
        catalogue.page(Filters(), "public", limit=2, cursor=text)


def test_records_are_found_by_id_and_alias(catalogue: Catalogue) -> None:
    assert catalogue.stored("IL-1", "public").id == "zk-2020"
    assert catalogue.record("zk-2020", "public").date == "2020-05-05"
    assert catalogue.stored("secret", "all").private


def test_a_mistyped_id_names_the_nearest_that_may_be_seen(catalogue: Catalogue) -> None:
    with pytest.raises(NotFound, match="no record 'zk-2202'") as caught:
        catalogue.stored("zk-2202", "public")
    assert "'zk-2020'" in caught.value.hint
    with pytest.raises(NotFound) as caught:
        catalogue.stored("secret", "public")
    assert "secret" not in caught.value.hint
    with pytest.raises(NotFound) as caught:
        catalogue.stored("secrt", "all")
    assert "'secret'" in caught.value.hint


@pytest.mark.parametrize("name", ["", "\x00", "\ud800", "가" * 500, "a/../b", "' OR 1 = 1 --"])
def test_any_text_that_is_no_id_is_not_found(catalogue: Catalogue, name: str) -> None:
    with pytest.raises(NotFound):
        catalogue.stored(name, "public")


def test_older_states_are_read_by_number(catalogue: Catalogue) -> None:
    put(catalogue.store, [record("a-2019", date="2019-01-01", title="Another title")])
    assert catalogue.revision("a-2019", 1, "public").document["title"]["en"] == "Incident a-2019"
    assert catalogue.revision("a-2019", 2, "public").document["title"]["en"] == "Another title"
    with pytest.raises(NotFound, match="no revision 3") as caught:
        catalogue.revision("a-2019", 3, "public")
    assert "1 to 2" in caught.value.hint
    with pytest.raises(NotFound):
        catalogue.revision("secret", 1, "public")


def test_words_become_tags(catalogue: Catalogue) -> None:
    given = ["component=주키퍼", "org:globex", "year=2019", "status:withdrawn", "component=zookeeper"]
    assert catalogue.tags(given, "public") == (
        ("component", "zookeeper"),
        ("organisation", "globex"),
        ("year", "2019"),
        ("status", "withdrawn"),
    )
    assert catalogue.tags([], "public") == ()


@pytest.mark.parametrize("text", ["", "zookeeper", "=x", "component=", ":"])
def test_what_is_no_term_is_refused(catalogue: Catalogue, text: str) -> None:
    with pytest.raises(InvalidInput, match="is no term"):
        catalogue.tags([text], "public")


@pytest.mark.parametrize(
    ("text", "near"), [("component=zookeper", "'zookeeper'"), ("componnt=zookeeper", "'component'")]
)
def test_an_unknown_term_names_the_nearest(catalogue: Catalogue, text: str, near: str) -> None:
    with pytest.raises(UnknownTerm) as caught:
        catalogue.tags([text], "public")
    assert near in caught.value.hint


def test_an_organisation_of_private_records_is_unknown_to_the_public(catalogue: Catalogue) -> None:
    with pytest.raises(UnknownTerm) as caught:
        catalogue.tags(["org=hidden-orgg"], "public")
    assert "hidden-org'" not in caught.value.hint.replace("hidden-orgg", "")
    assert catalogue.tags(["org=hidden-org"], "all") == (("organisation", "hidden-org"),)


def test_every_answer_comes_from_one_store(catalogue: Catalogue) -> None:
    answer = catalogue.search(Request("zookeeper lost its quorum"))
    assert [hit.record.id for hit in answer.hits] == ["zk-2020"]
    assert answer.semantic == ""
    assert catalogue.topic([("component", "zookeeper")], "public", "en", limit=5).total == 1
    assert catalogue.statistics("public").records == 4
    assert catalogue.matrix("organisation", "year", "public").cells
    assert catalogue.related("IL-1", "public", "en", limit=5).to_json()


def test_with_an_embedder_search_says_so() -> None:
    with library(*DOCUMENTS) as store:
        answer = Catalogue(store, HashedWords()).search(Request("zookeeper lost its quorum"))
    assert answer.semantic == "hashed-words"


def test_statistics_are_worked_out_once_for_the_data_that_there_are(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    real = catalogue.store.iterate

    def counted(filters: Filters, audience: Audience) -> Iterator[Stored]:
        read.append(audience)
        return real(filters, audience)

    monkeypatch.setattr(catalogue.store, "iterate", counted)
    shown = [catalogue.statistics(audience).records for audience in ("public", "all", "public", "all")]
    assert (shown, read) == ([4, 5, 4, 5], ["public", "all"])
    assert catalogue.statistics("public", Filters(all_of=(("organisation", "globex"),))).records == 1
    put(catalogue.store, [record("new", date="2024-01-01")])
    assert [catalogue.statistics(audience).records for audience in ("public", "all")] == [5, 6]
