from __future__ import annotations

import gc
import itertools
import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pilotage.core.errors import Conflict, InvalidInput
from pilotage.library import ingest
from pilotage.library.importers.archive import distinct
from pilotage.library.importers.model import Candidate, Note
from pilotage.library.ingest import Ingest, Item, Likeness, Report
from pilotage.library.stores.opening import open_store
from pilotage.library.stores.protocol import Filters, Store
from rig.embedder import HashedWords
from unit.library.small_library import VOCABULARY, record

EVERYTHING = Filters(withdrawn=True)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "library.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with open_store(str(path), create=True) as opened:
        yield opened


def candidate(document: dict[str, Any], place: str = "test.json, incident 1", *notes: Note) -> Candidate:
    return Candidate(document, place, "incident-json", notes)


def run(store: Store, *documents: dict[str, Any], **options: Any) -> Report:
    return Ingest(store, VOCABULARY, **options).run(candidate(document) for document in documents)


def test_new_changed_and_unchanged_are_told_apart(store: Store) -> None:
    assert run(store, record("a"), record("b")) == Report(new=2)
    report = run(store, record("a"), record("b", title="Another one"), record("c"))
    assert (report.new, report.changed, report.unchanged, report.total) == (1, 1, 1, 3)


def test_a_change_makes_a_revision_and_keeps_the_old_one(store: Store) -> None:
    run(store, record("a", title="First words"))
    run(store, record("a", title="Second words"))
    newest, oldest = store.revisions("a", "public")
    assert (newest.number, newest.document["title"]["en"]) == (2, "Second words")
    assert (oldest.number, oldest.document["title"]["en"]) == (1, "First words")
    assert oldest.origin == "incident-json: test.json, incident 1"


def test_the_order_of_keys_is_no_change(store: Store) -> None:
    run(store, record("a"))
    turned = dict(reversed(record("a").items()))
    assert run(store, turned).unchanged == 1


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"id": "b", "date": "2019-02-31"}, "not a day of the calendar"),
        ({"id": "b", "title": "no object"}, "title"),
        ({"title": {"en": "no id"}}, "id: is missing"),
    ],
)
def test_a_bad_record_in_the_middle_keeps_nothing(store: Store, broken: dict[str, Any], message: str) -> None:
    run(store, record("old"))
    before = store.data_version("all")
    with pytest.raises(InvalidInput, match=message) as caught:
        run(store, record("a"), record("old", title="Changed"), broken, record("c"))
    assert "test.json, incident 1" in caught.value.message
    assert store.ids("all") == ["old"]
    assert len(store.revisions("old", "all")) == 1
    assert store.data_version("all") == before
    assert store.verify() == []


def test_candidates_that_end_in_an_error_leave_the_store_as_it_was(store: Store) -> None:
    run(store, record("old"))

    def cut_off() -> Iterator[Candidate]:
        yield candidate(record("a"))
        yield candidate(record("b"))
        raise InvalidInput("the file ends in the middle", hint="Fetch it again.")

    with pytest.raises(InvalidInput, match="ends in the middle"):
        Ingest(store, VOCABULARY).run(cut_off())
    assert store.ids("all") == ["old"]
    assert run(store, record("a")).new == 1


def test_an_interruption_leaves_the_store_as_it_was(store: Store) -> None:
    def interrupted() -> Iterator[Candidate]:
        yield candidate(record("a"))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Ingest(store, VOCABULARY).run(interrupted())
    assert store.ids("all") == []


def test_an_id_that_comes_twice_with_other_content_is_refused(store: Store) -> None:
    with pytest.raises(InvalidInput, match="'a' came before in this import, with other content"):
        run(store, record("a"), record("b"), record("a", title="Another one"))
    assert store.ids("all") == []


def test_an_id_that_comes_twice_with_the_same_content_is_one_record(store: Store) -> None:
    report = run(store, record("a"), record("a"))
    assert (report.new, report.unchanged) == (1, 1)


def test_an_import_keeps_nothing_of_a_record_that_is_stored(store: Store) -> None:
    """Counted in bytes, from the 400th record on; what fills up once may do so in one of the two halves."""
    kept: list[int] = []

    def candidates() -> Iterator[Candidate]:
        letters = "abcdefghij"
        for number, parts in enumerate(itertools.product(letters, letters, letters)):
            if number in {400, 700, 999}:
                gc.collect()
                # Of our code only: a worker of the tests has threads of its own.
                ours = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, "*/pilotage/*")])
                kept.append(sum(one.size for one in ours.traces))
            # Of few words: the words themselves are kept, up to a number of them.
            yield candidate(record("-".join(parts)))

    tracemalloc.start()
    try:
        Ingest(store, VOCABULARY).run(distinct(candidates()))
    finally:
        tracemalloc.stop()
    first, second, third = kept
    assert min(second - first, third - second) < 8 * 299


def test_a_report_does_not_grow_with_the_import(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "_TOLD", 2)
    slugs = [Note("unknown-slug", slug, "components.0", "no known term is near") for slug in "xyxzz"]
    documents = [
        record(id_, sources=[{"url": "https://example.org/one", "kind": "primary"}]) for id_ in "abcde"
    ]
    report = Ingest(store, VOCABULARY).run(
        candidate(document, "test.json", note) for document, note in zip(documents, slugs, strict=True)
    )
    assert [(one.id, one.other) for one in report.alike] == [("b", "a"), ("c", "a")]
    assert report.alike_more == 1 + 3 + 4
    assert report.unknown == {"components: x": 2, "components: y": 1}
    assert report.unknown_more == 2


def test_an_alias_of_another_record_is_refused(store: Store) -> None:
    run(store, record("a"))
    with pytest.raises(Conflict, match="'a' already belongs"):
        run(store, record("b"), record("c", aliases=["a"]), record("a", title="Changed"))
    assert store.ids("all") == ["a"]


def test_the_same_source_is_reported_and_not_merged(store: Store) -> None:
    run(store, record("a", sources=[{"url": "https://www.example.org/post?utm_source=x", "kind": "blog"}]))
    report = run(store, record("b", sources=[{"url": "http://example.org/post/", "kind": "blog"}]))
    assert report.alike == [Likeness("b", "a", "same source")]
    assert store.count(EVERYTHING, "all") == 2


@pytest.mark.parametrize(
    ("changes", "alike"),
    [
        ({"title": "The ingress ran out of memory in Seoul"}, True),
        ({"title": "Expired certificate in Tokyo"}, False),
        ({"title": "The ingress ran out of memory", "date": "2020-01-03"}, False),
        ({"title": "The ingress ran out of memory", "org": "Other", "org_slug": "other"}, False),
        ({"title": "The ingress ran out of memory", "related": ["a"]}, False),
        ({"title": "The ingress ran out of memory", "recurrence_of": "a"}, False),
        ({"title": "The ingress ran out of memory", "related_reasons": {"a": {"en": "x"}}}, False),
    ],
)
def test_the_same_day_and_a_like_title_are_reported(
    store: Store, changes: dict[str, Any], *, alike: bool
) -> None:
    run(store, record("a", title="The ingress ran out of memory", date="2020-01-02"))
    report = run(store, record("b", **({"date": "2020-01-02"} | changes)))
    why = "same organisation and date, similar title"
    assert report.alike == ([Likeness("b", "a", why)] if alike else [])


def test_duplicates_within_one_import_are_reported_once(store: Store) -> None:
    source = [{"url": "https://example.org/post", "kind": "blog"}]
    both = (record("a", sources=source, date="2020-01-02"), record("b", sources=source, date="2020-01-02"))
    assert [(one.id, one.other) for one in run(store, *both).alike] == [("b", "a")]
    assert run(store, *both).alike == []


def test_a_record_under_a_new_id_is_not_its_own_duplicate(store: Store) -> None:
    source = [{"url": "https://example.org/post", "kind": "blog"}]
    run(store, record("old-id", title="One title", date="2020-01-02", sources=source))
    renamed = record("new-id", title="One title", date="2020-01-02", sources=source, aliases=["old-id"])
    report = run(store, renamed)
    assert report.alike == []
    assert report.changed == 1
    assert store.get(["old-id"], "public")["old-id"].id == "new-id"


def test_a_dry_run_tells_everything_and_keeps_nothing(store: Store) -> None:
    run(store, record("a"))
    before = (store.data_version("all"), [stored.digest for stored in store.iterate(EVERYTHING, "all")])
    items: list[Item] = []
    note = Note("mapped", "name", "title")
    report = Ingest(store, VOCABULARY, dry_run=True, embedder=HashedWords(), on_item=items.append).run(
        [candidate(record("a", title="Changed"), "x.md", note), candidate(record("b"), "y.md")]
    )
    assert (report.new, report.changed) == (1, 1)
    assert [(item.id, item.place, item.outcome) for item in items] == [
        ("a", "x.md", "changed"),
        ("b", "y.md", "new"),
    ]
    assert items[0].notes == (note,)
    assert (
        store.data_version("all"),
        [stored.digest for stored in store.iterate(EVERYTHING, "all")],
    ) == before
    assert store.without_vectors("hashed-words") == ["a"]


def test_unknown_slugs_are_counted(store: Store) -> None:
    notes = [
        Note("unknown-slug", "ingres", "components.0", "nearest known: ingress"),
        Note("unknown-slug", "foo"),
        Note("dropped", "x"),
    ]
    elsewhere = Note("unknown-slug", "ingres", "components.3", "nearest known: ingress")
    report = Ingest(store, VOCABULARY).run(
        [candidate(record("a"), "a", *notes), candidate(record("b"), "b", elsewhere)]
    )
    assert report.nearest == {"components: ingres": "nearest known: ingress", "foo": ""}
    assert report.unknown == {"components: ingres": 2, "foo": 1}


SECRETS = ("kim.minsu@corp.example", "10.77.12.9", "AKIAIOSFODNN7EXAMPLE", "FalconStrike", "hunter2hunter2")


def secret_document() -> dict[str, Any]:
    return record(
        "p",
        title="FalconStrike fell over",
        summary={"en": "Told kim.minsu@corp.example that 10.77.12.9 was down.", "ko": "FalconStrike 장애"},
        lessons={"en": "Never log AKIAIOSFODNN7EXAMPLE or password=hunter2hunter2."},
        phrases={"en": ["falconstrike is down on 10.77.12.9"]},
        unknown_key=[{"deep": "kim.minsu@corp.example"}],
    )


def bytes_of(path: Path) -> bytes:
    return b"".join(part.read_bytes() for part in sorted(path.parent.glob(f"{path.name}*")))


def test_private_material_is_redacted_before_it_is_stored(store: Store, path: Path) -> None:
    items: list[Item] = []
    ingest = Ingest(
        store, VOCABULARY, HashedWords(), private=True, words=["FalconStrike"], on_item=items.append
    )
    report = ingest.run([candidate(secret_document(), "notes/FalconStrike 10.77.12.9.json")])
    assert report.redacted == len(items[0].redactions) >= len(SECRETS)
    found = bytes_of(path).lower()
    assert b"redacted" in found
    for secret in SECRETS:
        assert secret.lower().encode() not in found, secret
    stored = store.get(["p"], "all")["p"]
    assert stored.private
    assert stored.document["visibility"] == "private"
    assert not store.get(["p"], "public")
    assert store.revisions("p", "all")[0].origin.count("[redacted:") == 2


def test_a_record_that_calls_itself_private_is_redacted_as_well(store: Store, path: Path) -> None:
    ingest = Ingest(store, VOCABULARY, HashedWords(), words=["FalconStrike"])
    ingest.run(
        [candidate(secret_document() | {"visibility": "private"}, "notes/FalconStrike 10.77.12.9.json")]
    )
    found = bytes_of(path).lower()
    assert store.get(["p"], "all")["p"].private
    assert [secret for secret in SECRETS if secret.lower().encode() in found] == []
    assert store.revisions("p", "all")[0].origin.count("[redacted:") == 2


def test_a_dry_run_of_private_material_leaves_no_trace(store: Store, path: Path) -> None:
    run(store, record("a"))
    run(store, secret_document(), private=True, words=["FalconStrike"], dry_run=True)
    assert not [secret for secret in SECRETS if secret.encode() in bytes_of(path)]


def test_private_material_comes_again_unchanged(store: Store) -> None:
    assert run(store, secret_document(), private=True, words=["FalconStrike"]).new == 1
    assert run(store, secret_document(), private=True, words=["FalconStrike"]).unchanged == 1


def test_an_import_never_changes_who_sees_a_record(store: Store) -> None:
    run(store, record("a"))
    with pytest.raises(Conflict, match="public in the store"):
        run(store, record("a"), private=True)
    assert not store.get(["a"], "public")["a"].private


def test_public_records_are_kept_as_they_came(store: Store) -> None:
    document = secret_document() | {"id": "q"}
    run(store, document, words=["FalconStrike"])
    assert json.dumps(store.get(["q"], "public")["q"].document) == json.dumps(document)


def vectors(store: Store, model: str) -> list[str]:
    return list(dict.fromkeys(row.id for row in store.vectors(model, "all")))


def test_records_get_their_vectors_as_they_come(store: Store) -> None:
    embedder = HashedWords()
    run(store, record("a", phrases={"en": ["one", "two"]}), embedder=embedder)
    rows = list(store.vectors(embedder.name, "public"))
    assert [row.part for row in rows] == ["phrase", "phrase", "title", "title"]
    assert embedder.asked == 4


def test_records_that_were_there_before_get_the_vectors_they_lack(store: Store) -> None:
    run(store, *(record(f"r{number:03}") for number in range(150)))
    run(store, record("p"), private=True)
    embedder, told = HashedWords(), []
    report = run(
        store, record("new"), record("r000"), embedder=embedder, on_vectors=lambda *one: told.append(one)
    )
    assert (report.new, report.unchanged) == (1, 1)
    assert store.without_vectors(embedder.name) == []
    assert len(vectors(store, embedder.name)) == 152
    assert told == [(64, 151), (128, 151), (151, 151)]
    assert store.verify() == []


def test_vectors_are_not_made_twice(store: Store) -> None:
    embedder, told = HashedWords(), []
    run(store, record("a"), embedder=embedder)
    asked, version = embedder.asked, store.data_version("public")
    run(store, record("a"), embedder=embedder, on_vectors=lambda *one: told.append(one))
    assert embedder.asked == asked
    assert store.data_version("public") == version
    assert told == []


def test_a_second_embedder_gets_its_own_vectors(store: Store) -> None:
    run(store, record("a"), embedder=HashedWords("one"))
    run(store, record("a"), embedder=HashedWords("two"))
    assert vectors(store, "one") == vectors(store, "two") == ["a"]


def test_a_record_without_a_word_needs_no_vectors(store: Store) -> None:
    run(store, {"id": "bare"}, record("a"))
    embedder, version = HashedWords(), store.data_version("public")
    run(store, embedder=embedder)
    assert vectors(store, embedder.name) == ["a"]
    assert store.data_version("public") == version + 1
    run(store, embedder=embedder)
    assert store.data_version("public") == version + 1


def test_a_changed_record_gets_new_vectors(store: Store) -> None:
    embedder = HashedWords()
    run(store, record("a", title="One thing"), embedder=embedder)
    before = [row.data for row in store.vectors(embedder.name, "public")]
    run(store, record("a", title="Quite another"), embedder=embedder)
    assert [row.data for row in store.vectors(embedder.name, "public")] != before


def test_a_record_changed_without_the_embedder_loses_its_old_vectors_and_gets_new_ones(store: Store) -> None:
    embedder = HashedWords()
    run(store, record("a", title="One thing"), embedder=embedder)
    run(store, record("a", title="Quite another"))
    assert store.without_vectors(embedder.name) == ["a"]
    run(store, embedder=embedder)
    assert store.without_vectors(embedder.name) == []


def test_a_failed_import_makes_no_vectors(store: Store) -> None:
    run(store, record("a"))
    with pytest.raises(InvalidInput):
        run(store, record("b"), {"id": ""}, embedder=HashedWords())
    assert store.without_vectors("hashed-words") == ["a"]
