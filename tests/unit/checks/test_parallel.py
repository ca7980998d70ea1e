"""Documents that several processes parse are the same as those that one does, whatever becomes of a helper."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click import UsageError

from pilotage.checks.dialect import DialectError, load
from pilotage.checks.objects import Document, SourceFile
from pilotage.checks.readers import parallel
from pilotage.checks.readers.files import read_paths
from pilotage.checks.readers.manifests import documents
from pilotage.checks.readers.parallel import Ahead
from pilotage.checks.registry import all_checks
from pilotage.checks.repeating import Repeating
from pilotage.checks.runner import run
from pilotage.checks.scene import Scene

TEXT = "kind: Pod\napiVersion: v1\nmetadata: {name: p%d, labels: &a {x: '1'}, annotations: *a}\n"
MANY = "---\n".join(TEXT % number for number in range(40))


@pytest.fixture(autouse=True)
def _worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "WORTH_IT", 100)
    monkeypatch.setattr(parallel, "_CHUNK", 300)


def _parse(document: Document) -> Any:
    try:
        return load(document.text)
    except DialectError as error:
        return error


def _told(
    helpers: int, text: str, parse: Callable[[Document], Any] = _parse, *, busy: bool = False
) -> list[Any]:
    listed = list(documents(SourceFile("a.yaml", text)))
    ahead = Ahead()
    ahead.start(listed, parse, helpers, busy=busy)
    told = [ahead.take(one, _parse) for one in listed]
    ahead.finish()
    return told


@pytest.mark.parametrize("helpers", [1, 2, 3, 60])
def test_helpers_give_the_same_values_in_the_same_order(helpers: int) -> None:
    assert _told(helpers, MANY) == _told(0, MANY)


@pytest.mark.parametrize("head_start", [1, 700, 1_000_000])
def test_helpers_take_more_while_this_process_is_busy(
    head_start: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "_HEAD_START", head_start)
    here = []

    def parse(document: Document) -> Any:
        here.append(document)
        return _parse(document)

    listed = list(documents(SourceFile("a.yaml", MANY)))
    ahead = Ahead()
    ahead.start(listed, _parse, 2, busy=True)
    assert [ahead.take(one, parse) for one in listed] == _told(0, MANY)
    all_of_it = sum(one.end - one.start for one in listed)
    expected = max((all_of_it - 2 * head_start) // 3, 0)
    assert expected - len(TEXT) < sum(one.end - one.start for one in here) <= expected
    ahead.finish()


def test_settings_are_looked_at_once_and_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("kind: Pod\napiVersion: v1\nmetadata: {name: a}\n")
    (tmp_path / "b.yaml").write_text("kind: [\napiVersion: v1\n")
    asked: list[str] = []
    reading = read_paths([str(tmp_path / "a.yaml"), str(tmp_path)], meanwhile=lambda: asked.append("once"))
    assert (asked, len(reading.objects)) == (["once"], 1)

    def wrong() -> None:
        raise UsageError("wrong")

    with pytest.raises(UsageError, match="wrong"):
        read_paths([str(tmp_path / "not there")], meanwhile=wrong)


def test_what_is_shared_and_what_repeats_stays_so() -> None:
    told = _told(1, MANY + "---\nkind: Pod\napiVersion: v1\nmetadata: {name: a, name: b}\n")
    assert told[-2]["metadata"]["labels"] is told[-2]["metadata"]["annotations"]
    assert isinstance(told[-1]["metadata"], Repeating)
    assert told[-1]["metadata"].twice == ("name",)


def test_an_error_keeps_its_place() -> None:
    text = MANY + "---\nkind: Pod\n\tx: [\n"
    here, there = _told(0, text)[-1], _told(1, text)[-1]
    assert isinstance(there, DialectError)
    assert (there.message, there.line, there.column) == (here.message, here.line, here.column)
    assert there.line


def test_what_a_dead_helper_did_not_tell_is_parsed_here() -> None:
    mother = os.getpid()

    def dies(document: Document) -> Any:
        if os.getpid() != mother and "p35" in document.text:
            os._exit(3)
        return _parse(document)

    assert _told(1, MANY, dies) == _told(0, MANY)


@pytest.mark.parametrize("fails", ["fork", "pipe"])
def test_without_another_process_all_is_parsed_here(fails: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise OSError(errno.EAGAIN, "no more")

    alone = _told(0, MANY)
    opened = len(list(Path("/proc/self/fd").iterdir()))
    with monkeypatch.context() as patch:
        patch.setattr(os, fails, refuse)
        assert _told(2, MANY) == alone
    assert len(list(Path("/proc/self/fd").iterdir())) == opened


def test_a_helper_that_nobody_asks_ends() -> None:
    listed = list(documents(SourceFile("a.yaml", MANY)))
    ahead = Ahead()
    ahead.start(listed, _parse, 2)
    ahead.finish()
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_a_folder_is_read_alike_by_one_and_by_several(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        broken = "---\nkind: Pod\napiVersion: v1\n  x: [\n" if number % 2 else ""
        (tmp_path / f"{number}.yaml").write_text(MANY + broken)

    def told(helpers: int) -> tuple[object, ...]:
        monkeypatch.setattr(parallel, "_helpers", lambda: helpers)
        reading = read_paths([str(tmp_path)])
        report = run(all_checks(), Scene(reading.objects), reading=reading)
        places = [(one.key, str(one.place(("metadata", "labels")))) for one in reading.objects]
        return places, reading.problems, reading.skipped, reading.documents, report.findings

    assert told(2) == told(0)
