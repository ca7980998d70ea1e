"""Texts that lie on disk, and that a large scene, whose texts do, tells just what it would tell otherwise."""

from __future__ import annotations

import errno
import io
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from pilotage.checks.aside import Aside, Shelf
from pilotage.checks.objects import SourceFile
from pilotage.checks.readers import parallel, reading
from pilotage.checks.readers.assemble import assemble
from pilotage.checks.readers.files import read_paths
from pilotage.checks.readers.reading import Reading
from pilotage.checks.registry import all_checks
from pilotage.checks.runner import run

GOLDEN = Path(__file__).parents[2] / "golden" / "checks"
FAMILIES = (
    "duplicate-key",
    "missing-required",
    "cron-policy-misplaced",
    "image-tag-moves",
    "coredns-no-lameduck",
)
CRON = """\
# 설명
apiVersion: batch/v1
kind: CronJob
metadata: {name: %s}
spec:
  schedule: "*/5 * * * *"
  jobTemplate:
    spec:
      template:
        spec:
          concurrencyPolicy: Forbid
          restartPolicy: Never
          containers: [{name: a, image: 'example.org/a:1'}]
"""


@pytest.mark.parametrize("text", ["", "a: 1\nb: 2\n", "a: 한글 😀\nb: 2\n", "a: \udcff\nb: 2\n", "\0"])
def test_a_text_comes_back_whole_and_in_parts(text: str) -> None:
    shelf = Shelf()
    aside = [shelf.put("before"), shelf.put(text), shelf.put("after")][1]
    ends = range(len(text) + 3)
    assert {(a, b): aside.part(a, b) for a in ends for b in ends} == {
        (a, b): text[a:b] for a in ends for b in ends
    }


def test_a_file_reads_alike_after_its_text_was_put_aside() -> None:
    file, shelf = SourceFile("a.yaml", "a: 한글\n"), Shelf()
    file.put_aside(shelf)
    file.put_aside(shelf)
    assert (file.text, file.part(3, 5)) == ("a: 한글\n", "한글")


class _Full(Shelf):
    def put(self, text: str) -> Aside:
        raise OSError(errno.ENOSPC, f"no room for {len(text)} characters")


def test_a_text_stays_where_there_is_no_room_and_where_comments_decide() -> None:
    file = SourceFile("a.yaml", "a: 1\n")
    file.put_aside(_Full())
    assert file.text == "a: 1\n"
    decides = SourceFile("b.yaml", "a: 1 # pilotage: ignore[x] why\n")
    decides.put_aside(Shelf())
    assert decides.decides


def _told(paths: list[str], monkeypatch: pytest.MonkeyPatch, *, large: bool) -> tuple[Reading, Any]:
    monkeypatch.setattr(reading, "LARGE", 1 if large else sys.maxsize)
    found = read_paths(paths)
    report = run(all_checks(), assemble(found), reading=found)
    idle = [(one.check, one.place, one.why) for one in report.idle_ignores]
    return found, (report.findings, report.ignored, idle, report.unknown, report.tallies, report.problems)


def test_a_large_scene_tells_what_it_would_tell_anyway(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "WORTH_IT", 100)
    (tmp_path / "a.yaml").write_text(
        f"---\n{CRON % 'a'}---\nkind: Pod\napiVersion: v1\n  x: [\n---\n{CRON % 'b'}"
    )
    ignored = "# pilotage: ignore[cron-policy-misplaced] it ends soon\n          concurrencyPolicy"
    (tmp_path / "b.yaml").write_text((CRON % "c").replace("concurrencyPolicy", ignored))
    (tmp_path / "c.json").write_text('{"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "d"}}\n')
    paths = [str(tmp_path), *(str(GOLDEN / one) for one in FAMILIES)]
    small, told = _told(paths, monkeypatch, large=False)
    large, told_large = _told(paths, monkeypatch, large=True)
    assert told_large == told
    assert len(told[0]) > 30
    assert len(told[1]) == 1
    kept = {one.source.name for one in large.objects if one.source is not None and not _is_aside(one.source)}
    assert kept == {str(tmp_path / "b.yaml")}
    assert (small.shelf, small.common, large.common) == (None, None, None)


def test_a_large_scene_is_read_where_nobody_may_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.yaml").write_text(CRON % "a")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    large, told = _told([str(tmp_path)], monkeypatch, large=True)
    assert large.shelf is None
    assert told[0]


def _is_aside(file: SourceFile) -> bool:
    return file._aside is not None


def test_what_many_documents_hold_is_there_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pods = "---\nkind: Pod\napiVersion: v1\nmetadata:\n  name: p%d\n  labels:\n    app: a\n    tier: b\n"
    (tmp_path / "a.yaml").write_text("".join(pods % number for number in range(3)))
    monkeypatch.setattr(reading, "LARGE", 1)
    first, second, third = (one.labels for one in read_paths([str(tmp_path)]).objects)
    assert first is second is third
    assert first == {"app": "a", "tier": "b"}


def test_what_a_pipe_brought_can_be_read_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((CRON % "a").encode())))
    _, told = _told(["-"], monkeypatch, large=True)
    assert str(next(one.place for one in told[0] if one.check == "cron-policy-misplaced")) == "-:11:11"
