"""`--changed-since`: only what a change brought, without a look at or a touch of the work tree."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from pilotage.checks.readers.changes import read_before
from pilotage.checks.readers.files import read_paths
from pilotage.cli.main import run
from pilotage.core.errors import OutsideError

CRON = """
apiVersion: batch/v1
kind: CronJob
metadata: {name: NAME}
spec:
  schedule: "*/5 * * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers: [{name: a, image: "a:1"}]
"""
OVERLAP = "cron-overlap-unbounded"

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="no git on the PATH")


class Clone:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def git(self, *arguments: str) -> str:
        names = {
            "GIT_AUTHOR_NAME": "a",
            "GIT_AUTHOR_EMAIL": "a@b",
            "GIT_COMMITTER_NAME": "a",
            "GIT_COMMITTER_EMAIL": "a@b",
        }
        alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(
            ["git", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always", *arguments],
            cwd=self.folder, env={**os.environ, **names, **alone}, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "--quiet", "--message", "x")


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    made = Clone(tmp_path / "clone")
    made.git("init", "--quiet")
    made.write("deploy/a.yaml", CRON.replace("NAME", "old"))
    made.commit()
    made.git("checkout", "--quiet", "-b", "change")
    return made


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, clone: Clone):
    monkeypatch.chdir(clone.folder)
    monkeypatch.setattr("gc.disable", lambda: None)

    def call(*arguments: str) -> tuple[int, dict, str]:
        with pytest.raises(SystemExit) as stop:
            run(["check", *arguments, "--output", "json"])
        captured = capsys.readouterr()
        return int(stop.value.code or 0), json.loads(captured.out or "{}"), captured.err

    return call


def overlapping(document: dict) -> list[str]:
    return [one["object"] for one in document["findings"] if one["check"] == OVERLAP]


def test_only_what_came_with_the_change(said, clone: Clone) -> None:
    clone.write("deploy/b.yaml", CRON.replace("NAME", "new"))
    clone.write("deploy/a.yaml", "# a line\n" + CRON.replace("NAME", "old"))
    before = sorted(path for path in clone.folder.rglob("*") if ".git" not in path.parts)
    state = clone.git("status", "--porcelain")
    _, document, _ = said(".", "--changed-since", "main")
    assert overlapping(document) == ["CronJob new"]
    assert document["before"] > 0
    assert sorted(path for path in clone.folder.rglob("*") if ".git" not in path.parts) == before
    assert clone.git("status", "--porcelain") == state


def test_a_move_brings_nothing(said, clone: Clone) -> None:
    (clone.folder / "other").mkdir()
    (clone.folder / "deploy" / "a.yaml").rename(clone.folder / "other" / "z.yaml")
    code, document, _ = said(".", "--changed-since", "main", "--fail-on", "low")
    assert (code, document["findings"]) == (0, [])


def test_the_common_ancestor_counts_not_the_tip_of_the_other_branch(said, clone: Clone) -> None:
    clone.git("checkout", "--quiet", "main")
    (clone.folder / "deploy" / "a.yaml").unlink()
    clone.write("deploy/c.yaml", "kind: List\n")
    clone.commit()
    clone.git("checkout", "--quiet", "change")
    _, document, _ = said(".", "--changed-since", "main")
    assert overlapping(document) == []


def test_an_ignore_that_was_taken_away_brings_the_finding(said, clone: Clone) -> None:
    note = f"metadata: {{name: NAME, annotations: {{pilotage.dev/ignore: '{OVERLAP}: for now'}}}}"
    text = CRON.replace("metadata: {name: NAME}", note).replace("NAME", "noted")
    clone.write("deploy/b.yaml", text)
    clone.commit()
    clone.git("branch", "noted")
    clone.write("deploy/b.yaml", CRON.replace("NAME", "noted"))
    _, document, _ = said(".", "--changed-since", "noted")
    assert overlapping(document) == ["CronJob noted"]


def test_below_a_folder_of_the_repository(said, clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    clone.write("deploy/b.yaml", CRON.replace("NAME", "new"))
    monkeypatch.chdir(clone.folder / "deploy")
    for path in ("a.yaml", "*.yaml", "..", str(clone.folder)):
        _, document, _ = said(path, "--changed-since", "main")
        assert overlapping(document) == ([] if path == "a.yaml" else ["CronJob new"]), path


def test_a_path_that_was_not_there_before(said, clone: Clone) -> None:
    clone.write("fresh/b.yaml", CRON.replace("NAME", "new"))
    _, document, _ = said("fresh", "--changed-since", "main")
    assert overlapping(document) == ["CronJob new"]


def test_links_of_the_repository_lead_nowhere_else(said, clone: Clone, tmp_path: Path) -> None:
    (tmp_path / "outside.yaml").write_text(CRON.replace("NAME", "out"), encoding="utf-8")
    (clone.folder / "deploy" / "out.yaml").symlink_to("../../outside.yaml")
    (clone.folder / "deploy" / "in.yaml").symlink_to("a.yaml")
    clone.commit()
    clone.git("branch", "linked")
    _, document, _ = said(".", "--changed-since", "linked")
    assert overlapping(document) == ["CronJob out"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([".", "--changed-since", "no-such"], "Git knows no commit 'no-such'"),
        ([".", "--changed-since", "--help"], "Git knows no commit '--help'"),
        (["-", "--changed-since", "main"], "standard input has no history"),
        (["/", "--changed-since", "main"], "is not in the repository"),
    ],
)
def test_what_cannot_be_compared(
    said, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.setattr(
        "pilotage.cli.check.files.read_paths", lambda *_, **__: pytest.fail("read"), raising=True
    )
    code, _, err = said(*arguments)
    assert code == 2
    assert message in err


def test_no_repository_and_no_git(said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.yaml").write_text(CRON, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    code, _, err = said(".", "--changed-since", "main")
    assert (code, "is in no Git repository" in err) == (2, True)
    monkeypatch.setattr("pilotage.clients.git.find", lambda *_: None)
    code, _, err = said(".", "--changed-since", "main")
    assert (code, "no git on the PATH" in err) == (3, True)


def test_a_shallow_clone(said, clone: Clone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clone.write("deploy/b.yaml", CRON.replace("NAME", "b"))
    clone.commit()
    shallow = Clone(tmp_path / "shallow")
    shallow.git("clone", "--quiet", "--depth", "1", "--no-single-branch", f"file://{clone.folder}", "inner")
    monkeypatch.chdir(tmp_path / "shallow" / "inner")
    for ref in ("origin/main", "v1.0"):
        code, _, err = said(".", "--changed-since", ref)
        assert (code, "fetch-depth: 0" in err) == (2, True), err


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("echo nonsense", "git names no folder as the top of the repository, but 'nonsense'"),
        (r"printf '/\0\377'", "git names no folder"),
        ("exit 3", "git: it failed and said nothing"),
        ("kill -9 $$", "git was ended by SIGKILL"),
        ('case "$*" in *show-toplevel*) pwd;; *) echo x;; esac', "no list of files"),
    ],
)
def test_a_git_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, words: str) -> None:
    (tmp_path / "git").write_text(f"#!/bin/sh\n{body}\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OutsideError, match=words):
        read_before(["."], "HEAD", read_paths)
