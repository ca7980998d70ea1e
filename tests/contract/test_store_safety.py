"""What both stores promise when several use them, when they are old, new or damaged."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pilotage.core.errors import ConfigError, NotFound, StoreBusy, StoreCorrupt, StoreTooNew
from pilotage.library.stores import meta, migrating
from pilotage.library.stores.opening import open_store
from pilotage.library.stores.protocol import Filters, Match
from rig.stores import document, fail_in, new, news, vector, vocabulary

EVERY = Filters(withdrawn=True)
LEADER = Match(((1.0, (("leader",),)),))


def put(store, *items):
    with store.transaction() as writer:
        for item in items:
            writer.put(item)


def change(store, *statements):
    """Does to the database what a bug, or a careless hand, would."""
    with store._door.writing() as session:
        for statement in statements:
            session.run(statement)


def test_a_place_without_a_store_is_not_found(store_url):
    with pytest.raises(NotFound) as caught:
        open_store(store_url, vocabulary=vocabulary)
    assert "import --bundled" in caught.value.hint


def test_two_writers_in_threads_lose_nothing(store, open_again):
    stores = [store, open_again()]
    failures: list[BaseException] = []
    batches = {
        (number, start): list(news(range(1000 * number + 10 * start, 1000 * number + 10 * start + 10)))
        for number in range(4)
        for start in range(6)
    }

    def work(number):
        try:
            for start in range(6):
                put(stores[number % 2], *batches[number, start])
        except BaseException as error:  # noqa: BLE001 - told in the main thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert store.count(EVERY, "all") == 240
    assert store.data_version("public") == 24
    assert store.verify() == []


CHILD = """
import sys
from rig.stores import news, vocabulary
from pilotage.library.stores.opening import open_store
url, first = sys.argv[1], int(sys.argv[2])
with open_store(url, busy_seconds=60, create=True, vocabulary=vocabulary) as store:
    for start in range(first, first + 80, 8):
        with store.transaction() as writer:
            for item in news(range(start, start + 8)):
                writer.put(item)
"""


def test_two_writers_in_processes_lose_nothing_from_an_empty_place_on(store_url):
    tests = str(Path(__file__).parents[1])
    running = [
        subprocess.Popen(
            [sys.executable, "-c", CHILD, store_url, str(first)], env={"PYTHONPATH": tests, "PATH": ""}
        )
        for first in (0, 40)
    ]
    assert [child.wait(120) for child in running] == [0, 0]
    with open_store(store_url, vocabulary=vocabulary) as store:
        assert store.ids("all") == [f"T-{number:05d}" for number in range(120)]
        assert store.verify() == []


def test_readers_go_on_while_a_writer_is_open(store, open_again):
    put(store, *news(range(20)))
    reader = open_again()
    with store.transaction() as writer:
        for item in news(range(20, 40)):
            writer.put(item)
        assert reader.count(EVERY, "public") == 20
        before = reader.match(LEADER, EVERY, "public", limit=40)
        assert store.match(LEADER, EVERY, "public", limit=40) == before
    assert reader.count(EVERY, "public") == 40
    assert reader.match(LEADER, EVERY, "public", limit=40) != before


def test_a_second_writer_waits_and_then_gives_up(store, open_again):
    other = open_again(busy_seconds=0.3)
    with store.transaction() as writer:
        writer.put(new(document(1)))
        with pytest.raises(StoreBusy), other.transaction():
            pass
    put(other, new(document(2)))
    assert store.count(EVERY, "all") == 2


def test_a_newer_store_is_refused_and_left_alone(store, store_url):
    put(store, new(document(1)))
    with store._door.writing() as session:
        meta.write(session, meta.SCHEMA, "99")
    with pytest.raises(StoreTooNew) as caught:
        open_store(store_url, create=True, vocabulary=vocabulary)
    assert "99" in caught.value.message
    # Also by one that was open before.
    with pytest.raises(StoreTooNew):
        put(store, new(document(2)))
    assert store.count(EVERY, "all") == 1


def test_a_store_that_does_not_say_its_form_is_refused(store, store_url):
    put(store, new(document(1)))
    with store._door.writing() as session:
        meta.write(session, meta.SCHEMA, "four")
    with pytest.raises(StoreCorrupt, match="does not say which form it has"):
        open_store(store_url, create=True, vocabulary=vocabulary)


def test_another_vocabulary_or_analysis_makes_the_index_anew(store, open_again):
    put(store, *news(range(10)), new(document(20), private=True, vectors={"m": [vector(1)]}))
    hits = store.match(LEADER, EVERY, "all", limit=20)
    with store._door.writing() as session:
        meta.write(session, meta.ANALYSIS, "0")
        session.run("DELETE FROM tag")
        session.run("DELETE FROM public_index")
    version = store.data_version("public")
    again = open_again()
    assert again.verify() == []
    assert again.match(LEADER, EVERY, "all", limit=20) == hits
    assert again.data_version("public") == version + 1
    assert len(list(again.vectors("m", "all"))) == 1
    newer = open_again(vocabulary=lambda: vocabulary(2))
    assert newer.data_version("public") == version + 2
    assert open_again(vocabulary=lambda: vocabulary(2)).data_version("public") == version + 2


def older_store(store, dialect, steps):
    """Takes a store back to an earlier form, with the data that this form can hold."""
    tables = {1: ["public_words", "public_index", "private_index", "total"], 2: ["vector"]}
    gone = [table for step, names in tables.items() if step >= steps for table in names]
    with store._door.writing() as session:
        for table in gone:
            if table != "public_words" or dialect == "sqlite":
                session.run(f"DROP TABLE {table}")
        if steps <= 3:
            session.run("DROP INDEX record_by_change")
        meta.write(session, meta.SCHEMA, str(steps))


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_a_store_of_an_earlier_form_comes_forward_with_its_data(store, open_again, store_url, steps):
    dialect = "sqlite" if store_url.startswith("sqlite") else "postgres"
    items = [*news(range(30)), new(document(40), private=True), new(document(3, seed=4))]
    put(store, *items)
    expected = store.match(LEADER, EVERY, "all", limit=50)
    older_store(store, dialect, steps)
    assert len(migrating.steps(dialect)) == 4
    again = open_again()
    assert again.verify() == []
    assert again.match(LEADER, EVERY, "all", limit=50) == expected
    assert len(again.revisions("T-00003", "public")) == 2
    put(again, new(document(50), vectors={"m": [vector(1)]}))
    assert again.verify() == []


@pytest.mark.parametrize("steps", [0, 1, 2, 3])
def test_the_first_steps_alone_make_a_store_that_comes_forward(store_url, steps):
    with open_store(store_url, create=True, vocabulary=vocabulary) as store:
        assert store.ids("all") == []
        dialect = "sqlite" if store_url.startswith("sqlite") else "postgres"
        older_store(store, dialect, max(steps, 1))
    with open_store(store_url, create=True, vocabulary=vocabulary) as store:
        put(store, *news(range(3)))
        assert store.verify() == []


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ('UPDATE revision SET document = \'{"id":"T-00002"}\' WHERE num = 2', "digest"),
        ("UPDATE revision SET document = 'no json' WHERE num = 2", "cannot be read"),
        ("UPDATE record SET digest = 'x' WHERE num = 2", "digest"),
        ("UPDATE record SET state = 1 WHERE num = 2", "other audience"),
        ("UPDATE record SET state = 2 WHERE num = 2", "withdrawn"),
        ("UPDATE record SET revision = 4 WHERE num = 2", "revision"),
        ("UPDATE revision SET number = 3 WHERE num = 5 AND number = 2", "no revision 2"),
        ("DELETE FROM revision WHERE num = 5 AND number = 1", "should have revisions 1 to 2"),
        ("DELETE FROM tag WHERE num = 2", "tags"),
        ("DELETE FROM alias", "does not resolve"),
        ("UPDATE address SET url = 'https://elsewhere.example' WHERE num = 2", "addresses"),
        ("DELETE FROM tally", "counts of facets"),
        ("UPDATE tally SET records = records + 1", "counts of facets"),
        ("UPDATE total SET tokens = tokens + 1", "totals"),
        ("UPDATE total SET records = records + 1", "totals"),
        ("INSERT INTO tag (term, num, state) VALUES (1, 999, 0)", "unknown records"),
        ("UPDATE public_index SET body = 'other words' WHERE {num} = 2", "does not agree"),
        ("DELETE FROM public_index WHERE {num} = 2", "missing from the search index"),
        ("INSERT INTO private_index SELECT * FROM public_index WHERE {num} = 2", "other audience"),
    ],
)
def test_verify_finds_planted_damage(store, store_url, statement, words):
    put(store, *news(range(4)), new(document(9, aliases=["old"])), new(document(9, seed=1, aliases=["old"])))
    assert store.verify() == []
    sqlite = store_url.startswith("sqlite")
    if sqlite and "SELECT *" in statement:
        statement = statement.replace(
            "private_index", "private_index (rowid, name, said, tags, body)"
        ).replace("SELECT *", "SELECT rowid, *")
    change(store, statement.replace("{num}", "rowid" if sqlite else "num"))
    problems = store.verify()
    assert any(words in problem for problem in problems), problems
    assert all(problem.endswith(".") for problem in problems)


def test_addresses_that_name_no_store_are_refused(tmp_path):
    for url in (
        "mysql://x/y",
        "sqlite://",
        "sqlite:///",
        "",
        "sqlite:///:memory:",
        ":memory:",
        str(tmp_path),
    ):
        with pytest.raises(ConfigError):
            open_store(url, vocabulary=vocabulary)


def test_a_first_transaction_that_fails_leaves_no_store(store_url):
    with open_store(store_url, create=True, vocabulary=vocabulary) as store:
        fail_in(store)
    with pytest.raises(NotFound):
        open_store(store_url, vocabulary=vocabulary)


def test_the_first_transaction_makes_the_store_whoever_comes_first(store_url):
    with (
        open_store(store_url, create=True, vocabulary=vocabulary) as one,
        open_store(store_url, create=True, vocabulary=vocabulary) as other,
    ):
        fail_in(one)
        put(other, new(document(2)))
        put(one, new(document(3)))
        assert other.count(EVERY, "all") == one.count(EVERY, "all") == 2
        assert one.verify() == []


def test_a_look_into_a_store_that_is_to_be_made_finds_it_empty(store_url):
    with open_store(store_url, create=True, vocabulary=vocabulary) as store:
        assert store.ids("all") == []
        assert store.verify() == []
    with open_store(store_url, vocabulary=vocabulary) as store:
        assert store.count(EVERY, "all") == 0
