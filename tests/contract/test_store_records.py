"""What both stores promise of records: writing, finding, revisions, pages, one moment."""

from __future__ import annotations

import datetime as dt
from types import SimpleNamespace

import pytest

from pilotage.core.errors import Conflict, InvalidInput, NotFound
from pilotage.library import canonical
from pilotage.library.stores.protocol import Filters
from rig.stores import document, new, news

EVERY = Filters(withdrawn=True)
WITHDRAWN = {"status": "withdrawn", "withdrawn_reason": {"en": "wrong"}}


def put(store, *items):
    with store.transaction() as writer:
        return [writer.put(item) for item in items]


def test_a_record_comes_back_as_it_went_in(store):
    odd = {
        "nul": "a\x00b",
        "surrogate": "\ud800",
        "big": 10**40,
        "float": 1.0,
        "exp": 1e-300,
        "ko": "한글",
        "none": None,
    }
    found = document(1, extra=odd)
    assert put(store, new(found)) == ["new"]
    stored = store.get(["T-00001"], "public")["T-00001"]
    assert stored.document == found
    assert isinstance(stored.document["extra"]["float"], float)
    assert (stored.revision, stored.private, stored.digest) == (1, False, canonical.digest(found))
    assert store.verify() == []


def test_nan_is_refused():
    with pytest.raises(InvalidInput):
        canonical.digest({"x": float("nan")})


def test_the_same_again_changes_nothing_and_another_makes_a_revision(store):
    put(store, new(document(1)))
    version = store.data_version("public")
    assert put(store, new(document(1))) == ["unchanged"]
    assert store.data_version("public") == version
    assert put(store, new(document(1, seed=2), origin="feed.json")) == ["changed"]
    assert store.data_version("public") > version
    revisions = store.revisions("T-00001", "public")
    assert [(each.number, each.document, each.origin) for each in revisions] == [
        (2, document(1, seed=2), "feed.json"),
        (1, document(1), "test"),
    ]
    assert store.get(["T-00001"], "public")["T-00001"].document == document(1, seed=2)
    assert store.count(Filters(), "public") == 1
    assert store.verify() == []


def test_aliases_resolve_and_unknown_ids_are_left_out(store):
    put(store, new(document(1, aliases=["IL-0001", "old"])), new(document(2)))
    found = store.get(["old", "T-00002", "nobody", "IL-0001"], "public")
    assert {asked: stored.id for asked, stored in found.items()} == {
        "old": "T-00001",
        "T-00002": "T-00002",
        "IL-0001": "T-00001",
    }
    assert store.ids("public") == ["IL-0001", "T-00001", "T-00002", "old"]
    assert store.revisions("old", "public")[0].number == 1
    assert store.revisions("nobody", "public") == []
    assert store.tags(["old"], "public")["old"] == store.tags(["T-00001"], "public")["T-00001"]


def test_a_clash_of_names_names_both_and_the_transaction_goes_on(store):
    put(store, new(document(1, aliases=["old"])), new(document(2)))
    with store.transaction() as writer:
        for clashing in (
            document(3, aliases=["old"]),
            document(3, id="old"),
            document(2, aliases=["T-00001"]),
            document(3, aliases=["T-00001", "T-00002"]),
        ):
            with pytest.raises(Conflict) as caught:
                writer.put(new(clashing))
            assert "T-0000" in caught.value.message
        assert writer.put(new(document(4))) == "new"
    assert store.ids("public") == ["T-00001", "T-00002", "T-00004", "old"]
    assert store.verify() == []


def test_a_renamed_record_keeps_its_history_and_its_old_id(store):
    put(store, new(document(1)))
    assert put(store, new(document(1, id="better", aliases=["T-00001"]))) == ["changed"]
    assert store.get(["T-00001"], "public")["T-00001"].id == "better"
    assert [each.number for each in store.revisions("better", "public")] == [2, 1]
    # A later revision that forgets the alias does not take it back.
    put(store, new(document(1, id="better", seed=3)))
    assert store.get(["T-00001"], "public")["T-00001"].id == "better"
    assert put(store, new(document(1, aliases=["better"]))) == ["changed"]
    assert store.get(["better"], "public")["better"].id == "T-00001"
    assert store.count(EVERY, "all") == 1
    assert store.verify() == []


def test_an_import_never_changes_who_sees_a_record(store):
    put(store, new(document(1)), new(document(2), private=True))
    with store.transaction() as writer:
        with pytest.raises(Conflict):
            writer.put(new(document(1), private=True))
        with pytest.raises(Conflict):
            writer.put(new(document(2, seed=5)))
    assert store.verify() == []


def test_an_exception_undoes_the_transaction(store):
    put(store, new(document(1)))

    def fail(writer):
        writer.put(new(document(2)))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), store.transaction() as writer:
        fail(writer)
    assert store.ids("all") == ["T-00001"]
    assert store.verify() == []


def test_the_writer_sees_its_own_work(store):
    with store.transaction() as writer:
        assert writer.find("old") is None
        writer.put(new(document(1, aliases=["old"])))
        writer.put(new(document(2, sources=document(1)["sources"]), private=True))
        assert writer.find("old").id == "T-00001"
        url = "https://example.org/0/1"
        assert writer.owners([url, "https://nowhere.example"], "all") == {url: ["T-00001", "T-00002"]}
        assert writer.owners([url], "public") == {url: ["T-00001"]}
        day = document(1)["date"]
        assert writer.same_day("org-1", day, "all") == [("T-00001", document(1, aliases=["old"]))]
        assert writer.same_day("org-1", "1999-01-01", "all") == []
        # Others see nothing yet.
        assert store.ids("all") == []


def test_changes_come_in_the_order_of_their_transactions_whatever_the_clock_says(store, monkeypatch):
    clock = iter([dt.datetime(2030, 1, 1, tzinfo=dt.UTC), dt.datetime(2026, 1, 1, tzinfo=dt.UTC)])
    monkeypatch.setattr("pilotage.library.stores.writing._now", lambda: next(clock))
    put(store, new(document(2)))
    put(store, new(document(1)))
    stamps = store.stamps(["T-00001", "T-00002"], "all")
    assert stamps["T-00001"].stored_at == "2030-01-01T00:00:00.000001+00:00"
    assert stamps["T-00001"].stored_at > stamps["T-00002"].stored_at


def test_of_a_crowded_day_the_latest_are_compared(store, monkeypatch):
    monkeypatch.setattr("pilotage.library.stores.writing._MOST_OF_A_DAY", 2)
    same = {"org_slug": "org-1", "date": "2020-01-01"}
    with store.transaction() as writer:
        for number in (1, 2, 3):
            writer.put(new(document(number, **same)))
        writer.put(new(document(4, **same), private=True))
        latest = {
            audience: [id_ for id_, _ in writer.same_day("org-1", "2020-01-01", audience)]
            for audience in ("public", "all")
        }
        assert latest == {"public": ["T-00003", "T-00002"], "all": ["T-00004", "T-00003"]}


def test_pages_hold_still_while_records_are_added(store):
    put(store, *news(range(30)), new(document(99, date=None)))
    seen, after = [], None
    while page := store.page(Filters(), "public", limit=7, after=after):
        seen += [(stored.document.get("date") or "", stored.id) for stored in page]
        after = seen[-1]
        # Newer and older ones come in behind and before the reader.
        put(store, new(document(1000 + len(seen), date="2031-01-01")))
    ids = [id_ for _, id_ in seen]
    assert len(ids) == len(set(ids)) == 31
    assert seen == sorted(seen, key=lambda pair: ([-ord(char) for char in pair[0]] or [0], pair[1]))
    assert ids[-1] == "T-00099"


def test_iteration_sees_one_moment(store):
    put(store, *news(range(450)))
    running = store.iterate(EVERY, "public")
    first = next(running)
    put(store, *news(range(450, 460)), new(document(3, seed=9)))
    rest = list(running)
    assert [first.id, *[stored.id for stored in rest]] == [f"T-{number:05d}" for number in range(450)]
    assert rest[2].document == document(3)
    assert len(list(store.iterate(EVERY, "public"))) == 460


def test_an_iteration_that_is_left_early_gives_its_connection_back(store):
    put(store, *news(range(5)))
    for _ in range(60):
        running = store.iterate(EVERY, "public")
        next(running)
        running.close()


def test_odd_texts_do_not_break_an_import(store):
    put(
        store,
        new(document(1, sources=[{"url": "https://example.org/" + "x" * 9000, "kind": "blog"}])),
        new(document(2, org_slug="s" * 5000, origin="\x00")),
        new(
            document(3, sources=[{"url": "https://example.org/\x00", "kind": "b\x00g"}]), origin="a\x00\ud800"
        ),
        new(document(4, summary={"en": "word " * 40_000 + " ".join(f"w{n}x" for n in range(120_000))})),
        new(document(5, title={"en": "𐲀 \u0000 ß İstanbul ﬁ Ⅻ ²"})),
    )
    assert store.count(Filters(), "public") == 5
    assert store.verify() == []


def test_vectors_lie_beside_their_records(store):
    from rig.stores import vector

    put(
        store,
        new(document(2), vectors={"m": [vector(1, 0), vector(0, 1, part="phrase", lang="ko")]}),
        new(document(1)),
        new(document(3), private=True, vectors={"m": [vector(0.5, 0.5)]}),
    )
    assert [(row.id, row.part, row.lang) for row in store.vectors("m", "public")] == [
        ("T-00002", "title", "en"),
        ("T-00002", "phrase", "ko"),
    ]
    assert [row.data for row in store.vectors("m", "all")][2] == vector(0.5, 0.5).data
    assert store.without_vectors("m") == ["T-00001"]
    assert len(store.without_vectors("other")) == 3
    version = store.data_version("public")
    store.add_vectors("m", {"T-00001": [vector(1, 1)]})
    assert store.data_version("public") > version
    assert store.without_vectors("m") == []
    with pytest.raises(NotFound):
        store.add_vectors("m", {"nobody": [vector(1)]})
    # A changed record loses vectors of its former text.
    put(store, new(document(2, seed=7)))
    assert store.without_vectors("m") == ["T-00002"]
    assert store.verify() == []


def test_stamps_tell_of_records_without_reading_them(store):
    put(store, new(document(1, aliases=["OLD-1"])), new(document(2), private=True))
    put(store, new(document(1, seed=2, aliases=["OLD-1"])))
    stored = store.get(["T-00001"], "public")["T-00001"]
    found = store.stamps(["OLD-1", "T-00001", "T-00002", "none"], "public")
    assert set(found) == {"OLD-1", "T-00001"}
    stamp = found["OLD-1"]
    assert (stamp.id, stamp.revision, stamp.digest) == ("T-00001", 2, stored.digest)
    assert (stamp.stored_at, stamp.private, stamp.withdrawn) == (stored.stored_at, False, False)
    assert store.stamps(["T-00002"], "all")["T-00002"].private


def test_times_of_change_have_one_width_so_that_they_sort_everywhere(store, monkeypatch):
    whole_second = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)
    clock = SimpleNamespace(UTC=dt.UTC, datetime=SimpleNamespace(now=lambda _zone: whole_second))
    monkeypatch.setattr("pilotage.library.stores.writing.dt", clock)
    put(store, new(document(1)))
    (stamp,) = store.changes("public", limit=1)
    assert stamp.stored_at == "2026-01-02T03:04:05.000000+00:00"


def test_changes_come_in_the_order_of_time_and_go_on_after_the_last(store):
    for number in range(1, 6):
        put(store, new(document(number), private=number == 3))
    put(store, new(document(2, seed=2)), new(document(4, **WITHDRAWN)))
    first = store.changes("public", limit=2)
    assert [stamp.id for stamp in first] == ["T-00001", "T-00005"]
    rest = store.changes("public", limit=9, after=(first[-1].stored_at, first[-1].id))
    assert [(stamp.id, stamp.withdrawn) for stamp in rest] == [("T-00002", False), ("T-00004", True)]
    assert [stamp.id for stamp in store.changes("public", limit=2, latest=True)] == ["T-00004", "T-00002"]
    assert [stamp.id for stamp in store.changes("all", limit=3)] == ["T-00001", "T-00003", "T-00005"]
