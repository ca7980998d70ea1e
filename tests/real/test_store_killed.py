"""Killed at any moment, a store loses nothing that was committed and shows nothing half-written."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pilotage.library.stores.opening import open_store
from pilotage.library.stores.protocol import Filters
from rig.stores import vocabulary

KILLS = 100
STORES = 10
BATCH = 5
IMPORTER = f"""
import os, sys
from rig.stores import document, new, vocabulary, vector
from pilotage.library.stores.opening import open_store

def work(url, first):
    with open_store(url, create=True, vocabulary=vocabulary) as store:
        for start in range(first, first + 100_000, {BATCH}):
            with store.transaction() as writer:
                for number in range(start, start + {BATCH}):
                    aliases = [f"A-{{number}}"]
                    writer.put(new(document(number, aliases=aliases), vectors={{"m": [vector(1, 2)]}}))
                if start // {BATCH} % 2:
                    # Now and then a record of the batch before changes too.
                    writer.put(new(document(start - 1, seed=1, aliases=[f"A-{{start - 1}}"])))
            print(start + {BATCH}, flush=True)

for line in sys.stdin:
    url, first = line.split()
    # Forked, so that a hundred importers need not import Python's modules a hundred times.
    child = os.fork()
    if child == 0:
        print("pid", os.getpid(), flush=True)
        work(url, int(first))
    os.waitpid(child, 0)
    print("over", flush=True)
"""


@pytest.fixture
def importer():
    tests = str(Path(__file__).parents[1])
    with subprocess.Popen(
        [sys.executable, "-c", IMPORTER],
        env={"PYTHONPATH": tests, "PATH": ""},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        yield running
        running.stdin.close()


def run_and_kill(importer, url, first, delay):
    """The last batch that an importer acknowledged before it was killed, `delay` seconds after its start."""
    importer.stdin.write(f"{url} {first}\n")
    importer.stdin.flush()
    pid = int(importer.stdout.readline().split()[1])
    time.sleep(delay)
    os.kill(pid, signal.SIGKILL)
    acknowledged = first
    while (line := importer.stdout.readline().strip()) != "over":
        acknowledged = int(line)
    return acknowledged


def kill_and_look(importer, url, rng):
    """Kills ten importers of one store, one after the other, and looks at the store after each."""
    done = 0
    for _ in range(KILLS // STORES):
        done = run_and_kill(importer, url, done, rng.uniform(0.0, 0.2))
        with open_store(url, create=True, vocabulary=vocabulary) as store:
            assert store.verify() == []
            count = store.count(Filters(), "public")
            # The last transaction may have been committed without the word getting out.
            assert count in {done, done + BATCH}
            assert store.ids("public")[:count] == [f"A-{number}" for number in sorted(range(count), key=str)]
            done = count
    return done


@pytest.mark.slow
def test_a_hundred_kills_lose_nothing_and_leave_nothing_half_written(tmp_path, importer):
    seeds = random.Random(20190829)
    committed = 0
    for number in range(STORES):
        # A new store now and then, so that verifying a hundred times stays cheap.
        url = f"sqlite:///{tmp_path / f'library{number}.db'}"
        committed += kill_and_look(importer, url, random.Random(seeds.random()))
    # On a busy machine the importers of one store may all die early, but not those of all.
    assert committed > 0
