"""A file is written whole, or the one that was there stays."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pilotage.core.errors import InvalidInput, UserError
from pilotage.library.exporters.table import EXPORTERS, exporter_named, write_file
from pilotage.library.stores.protocol import Stored


def stored(number: int) -> Stored:
    document = {"id": f"r-{number}", "summary": {"en": "x" * 100}}
    return Stored(document["id"], document, 1, "0" * 64, "2026-01-01T00:00:00+00:00", private=False)


def broken() -> Iterator[Stored]:
    yield stored(1)
    raise InvalidInput("the store broke", hint="")


@pytest.mark.parametrize("exporter", EXPORTERS, ids=lambda exporter: exporter.name)
def test_an_error_midway_keeps_the_old_file(exporter, tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("old")
    with pytest.raises(InvalidInput, match="the store broke"):
        write_file(exporter, broken(), path)
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_a_link_is_written_through(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("old")
    link.symlink_to(file.name)
    assert write_file(exporter_named("jsonl"), [stored(1)], link) == 1
    assert link.is_symlink()
    assert b"r-1" in file.read_bytes()


def test_a_pipe_is_written_into_and_not_replaced(tmp_path: Path) -> None:
    pipe, plain = tmp_path / "pipe", tmp_path / "plain"
    os.mkfifo(pipe)
    write_file(exporter_named("jsonl"), [stored(1)], plain)
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(pipe.read_bytes)
        assert write_file(exporter_named("jsonl"), [stored(1)], pipe) == 1
        assert read.result() == plain.read_bytes()
    assert pipe.is_fifo()


FULL = """
import resource, sys
sys.path.insert(0, sys.argv[3])
from pathlib import Path
from pilotage.core.errors import StoreFull
from pilotage.library.exporters.table import exporter_named, write_file
from pilotage.library.stores.protocol import Stored
import random
rng = random.Random(1)
def records():
    for number in range(2000):
        text = "".join(rng.choices("abcdefghij klmnopqrst", k=100))
        document = {"id": f"r-{number}", "summary": {"en": text}}
        yield Stored(document["id"], document, 1, "", "", False)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    write_file(exporter_named(sys.argv[1]), records(), Path(sys.argv[2]))
except StoreFull as error:
    print(error.message)
    print(error.hint)
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", [exporter.name for exporter in EXPORTERS])
def test_a_full_device_keeps_the_old_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("old")
    source = str(Path(__file__).parents[4] / "src")
    done = subprocess.run(
        [sys.executable, "-c", FULL, name, str(path), source],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )
    assert done.stdout.startswith("cannot write "), done
    assert "ake room" in done.stdout
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No such file or directory"):
        write_file(exporter_named("csv"), [], tmp_path / "none" / "out.csv")


def test_the_name_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(UserError, match=r"[Dd]irectory"):
        write_file(exporter_named("csv"), [], tmp_path / "out")
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path: Path, mask: int, mode: int) -> None:
    before = os.umask(mask)
    try:
        write_file(exporter_named("csv"), [], tmp_path / "out.csv")
    finally:
        os.umask(before)
    assert (tmp_path / "out.csv").stat().st_mode & 0o777 == mode


def test_a_replaced_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")
    path.chmod(0o640)
    write_file(exporter_named("csv"), [], path)
    assert path.stat().st_mode & 0o777 == 0o640
