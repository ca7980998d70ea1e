"""A SQLite store on a full or read-only disk, locked, damaged: one clear error each, nothing lost."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from pilotage.core.errors import (
    NotFound,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreGone,
    StoreReadOnly,
)
from pilotage.library.stores.opening import open_store
from pilotage.library.stores.protocol import Filters, Match
from rig.stores import document, fail_in, new, news, vocabulary

EVERY = Filters(withdrawn=True)
LEADER = Match(((1.0, (("leader",),)),))
TESTS = str(Path(__file__).parents[1])


def opened(path, **options):
    return open_store(str(path), vocabulary=vocabulary, **options)


@pytest.fixture
def path(tmp_path):
    """A store of forty records."""
    place = tmp_path / "new" / "folder" / "library.db"
    with opened(place, create=True) as store, store.transaction() as writer:
        for item in news(range(40)):
            writer.put(item)
    return place


def is_whole(path, count=40):
    with opened(path) as store:
        assert store.count(EVERY, "all") == count
        assert store.verify() == []


FILL = """
import resource, signal, sys
from rig.stores import document, fail_in, new, vocabulary
from pilotage.core.errors import StoreFull
from pilotage.library.stores.opening import open_store
if sys.argv[2] != "0":
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
store = open_store(sys.argv[1], vocabulary=vocabulary)
try:
    with store.transaction() as writer:
        for number in range(100, 600):
            writer.put(new(document(number, padding="x" * 300_000)))
except StoreFull as error:
    print("full:", error.hint)
    # The store goes on: readers read, and what was there is there.
    print(len(store.ids("all")))
"""


def fill(path, limit):
    done = subprocess.run(
        [sys.executable, "-c", FILL, str(path), str(limit)],
        env={"PYTHONPATH": TESTS, "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stdout.startswith("full: Make room"), done.stderr
    assert done.stdout.splitlines()[1] == "40"


def test_a_file_that_may_not_grow_keeps_what_was_committed(path):
    fill(path, 4 * 1024 * 1024)
    is_whole(path)


def test_a_full_device_keeps_what_was_committed(path, tmp_path):
    with small_device(tmp_path, "size=6m") as device:
        place = device / "library.db"
        shutil.copy(path, place)
        fill(place, 0)
        is_whole(place)


@contextmanager
def small_device(tmp_path, options):
    device = tmp_path / "device"
    device.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(device)]
    if os.geteuid() != 0 or subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("needs the right to mount a small file system; the file-size limit shows the same")
    try:
        yield device
    finally:
        subprocess.run(["umount", str(device)], check=True)


def test_the_database_s_own_limit_is_full_too(path):
    def fill_up(session):
        pages = session.one("PRAGMA page_count")[0]
        session.run(f"PRAGMA max_page_count = {pages + 5}")
        session.run("CREATE TABLE big AS SELECT zeroblob(1000000) AS x")

    with opened(path) as store, pytest.raises(StoreFull), store._door.writing() as session:
        fill_up(session)
    is_whole(path)


@pytest.mark.parametrize("with_log", [False, True])
def test_on_a_read_only_device_readers_read_and_writers_are_told(path, tmp_path, with_log):
    with small_device(tmp_path, "size=20m") as device:
        place = device / "library.db"
        shutil.copy(path, place)
        keeper = sqlite3.connect(place)
        if with_log:
            keeper.execute("PRAGMA journal_mode = WAL")
            keeper.execute("INSERT INTO meta VALUES ('only', 'in the log')")
            keeper.commit()
            copies = [(name, (device / name).read_bytes()) for name in ("library.db", "library.db-wal")]
        keeper.close()
        if with_log:
            for name, content in copies:
                (device / name).write_bytes(content)
        subprocess.run(["mount", "-o", "remount,ro", str(device)], check=True)
        if with_log:
            # What stands in the log alone cannot be seen here; showing less in silence would be wrong.
            with pytest.raises(StoreReadOnly) as caught:
                opened(place)
            assert "folds the log in" in caught.value.hint
            return
        with opened(place) as store:
            assert store.count(EVERY, "all") == 40
            assert store.match(LEADER, EVERY, "public", limit=5)
            assert store.verify() == []
            with pytest.raises(StoreReadOnly) as caught, store.transaction() as writer:
                writer.put(new(document(99)))
            assert caught.value.hint
        with pytest.raises(StoreReadOnly):
            opened(device / "sub" / "other.db", create=True)


def test_a_lock_that_is_held_too_long_is_busy(path):
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with opened(path, busy_seconds=0.2) as store:
            assert store.count(EVERY, "all") == 40
            with pytest.raises(StoreBusy) as caught, store.transaction():
                pass
            assert caught.value.hint
        other.execute("ROLLBACK")
    is_whole(path)


def test_a_file_of_another_kind_is_left_as_it_is(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_bytes(b"This is not a database at all. " * 400)
    foreign = tmp_path / "other.db"
    with closing(sqlite3.connect(foreign)) as other:
        other.execute("CREATE TABLE meta (key, value)")
        other.commit()
    for file in (text, foreign):
        before = file.read_bytes()
        for create in (False, True):
            with pytest.raises(StoreCorrupt) as caught:
                opened(file, create=create)
            assert "--store" in caught.value.hint
        assert file.read_bytes() == before


def test_an_empty_file_is_no_store_yet(tmp_path):
    empty = tmp_path / "library.db"
    empty.touch()
    with pytest.raises(NotFound):
        opened(empty)
    with opened(empty, create=True) as store:
        assert store.verify() == []


def garbage_header(content):
    return b"garbage!" + content[8:]


def cut(content):
    return content[: len(content) // 2 // 4096 * 4096]


def zeroed(content):
    return content[: 4096 * 6] + bytes(4096 * 12) + content[4096 * 18 :]


@pytest.mark.parametrize("damage", [garbage_header, cut, zeroed])
def test_damage_is_told_and_never_passes_for_whole(path, damage):
    path.write_bytes(damage(path.read_bytes()))
    problems = []
    with suppress(StoreCorrupt), opened(path) as store:
        problems = store.verify()
        assert problems


def test_a_damaged_search_index_is_found(path):
    with closing(sqlite3.connect(path)) as other:
        other.execute("UPDATE public_index_content SET c3 = 'other' WHERE id = 3")
        other.execute("DELETE FROM public_index_data WHERE id = (SELECT max(id) FROM public_index_data)")
        other.commit()
    with opened(path) as store:
        problems = store.verify()
    assert any("search index" in problem or "read to its end" in problem for problem in problems)


def leftovers(tmp_path):
    return sorted(str(found.relative_to(tmp_path)) for found in tmp_path.rglob("*"))


def test_a_first_transaction_that_fails_takes_file_and_folders_away(tmp_path):
    (tmp_path / "there").mkdir()
    with opened(tmp_path / "there" / "new" / "library.db", create=True) as store:
        fail_in(store)
    assert leftovers(tmp_path) == ["there"]


def test_a_file_that_was_there_before_stays(tmp_path):
    (tmp_path / "library.db").touch()
    with opened(tmp_path / "library.db", create=True) as store:
        fail_in(store)
    assert leftovers(tmp_path) == ["library.db"]


def test_a_file_that_another_one_has_open_stays(tmp_path):
    place = tmp_path / "library.db"
    with opened(place, create=True) as other:
        with opened(place, create=True) as store:
            fail_in(store)
        with other.transaction() as writer:
            writer.put(new(document(2)))
    is_whole(place, 1)


def test_a_store_that_another_one_has_filled_stays(tmp_path):
    place = tmp_path / "library.db"
    with opened(place, create=True) as store:
        with opened(place, create=True) as other, other.transaction() as writer:
            writer.put(new(document(2)))
        fail_in(store)
    is_whole(place, 1)
    with closing(sqlite3.connect(place)) as looking:
        assert looking.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_was_taken_away_is_not_written_to(path, replaced):
    with opened(path) as store:
        if replaced:
            shutil.copy(path, path.with_name("copy.db"))
            path.with_name("copy.db").replace(path)
        else:
            path.rename(path.with_name("moved.db"))
        with pytest.raises(StoreError, match="taken away or replaced"), store.transaction():
            pass


def test_reading_tells_that_the_file_is_gone_and_goes_on_with_what_comes_in_its_place(path):
    with opened(path) as store:
        before = store.data_version("public")
        moved = path.rename(path.with_name("moved.db"))
        with pytest.raises(StoreGone, match="the file is gone") as told:
            store.count(Filters(), "public")
        assert "Put it back" in told.value.hint
        moved.rename(path)
        assert store.data_version("public") == before
        with opened(path.with_name("other.db"), create=True) as other, other.transaction() as writer:
            writer.put(new(document(7)))
        path.with_name("other.db").replace(path)
        assert store.ids("public") == [document(7)["id"]]
        assert store.data_version("public") > before
        path.rename(moved)
        moved.with_name("junk").write_bytes(b"no database at all" * 400)
        moved.with_name("junk").rename(path)
        with pytest.raises(StoreError, match="not a Pilotage store"):
            store.count(Filters(), "public")
