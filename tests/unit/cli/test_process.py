"""The installed script as a process: pipes, completion, streams."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-c", "from pilotage.cli.main import run; run()"]


def environment(**more: str) -> dict[str, str]:
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PILOTAGE_", "_PILOTAGE_"))
    }
    return kept | {"PILOTAGE_LIBRARY__SEMANTIC": "false"} | more


@pytest.mark.parametrize(
    "arguments",
    [
        ["list"],
        ["search", ""],
        ["show", "acme-2021-03-01-coredns-oom"],
        ["export"],
        ["export", "--format", "csv"],
        ["list", "-o", "json"],
    ],
    ids=" ".join,
)
def test_a_reader_that_goes_is_no_error(store: str, arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [*COMMAND, "library", *arguments, "--store", store],
            stdout=writing,
            stderr=subprocess.PIPE,
            env=environment(),
            check=False,
            timeout=60,
        )
    finally:
        os.close(writing)
    assert done.stderr == b""
    assert done.returncode == 0


@pytest.mark.parametrize("arguments", [["list"], ["list", "-o", "json"]], ids=" ".join)
def test_an_output_without_room_is_told_as_that(store: str, arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, "library", *arguments, "--store", store],
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(),
            check=False,
            timeout=60,
        )
    assert done.returncode == 3
    assert done.stderr.count(b"standard output cannot be written: No space left on device") == 1
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script(shell: str) -> None:
    done = subprocess.run(
        COMMAND,
        env=environment(_PILOTAGE_COMPLETE=f"{shell}_source"),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "_PILOTAGE_COMPLETE" in done.stdout
    assert done.stderr == "" or shell == "bash"  # an old bash makes click warn


def test_completion_of_commands_and_options() -> None:
    def complete(words: str) -> list[str]:
        number = str(len(words.split(" ")) - 1)
        more = {"COMP_WORDS": words, "COMP_CWORD": number, "_PILOTAGE_COMPLETE": "bash_complete"}
        done = subprocess.run(
            COMMAND, env=environment(**more), capture_output=True, text=True, check=False, timeout=60
        )
        return [line.partition(",")[2] for line in done.stdout.splitlines()]

    assert complete("pilotage lib") == ["library"]
    assert complete("pilotage library se") == ["search"]
    assert "--limit" in complete("pilotage library search --li")


def test_results_alone_go_to_standard_output(store: str, tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text('{"id": "one-1"}', encoding="utf-8")
    for arguments in (["import", "one.json"], ["list", "-o", "json"], ["show", "nothing"]):
        done = subprocess.run(
            [*COMMAND, "library", *arguments, "--store", store],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert bool(done.stdout) == (done.returncode == 0)
        assert bool(done.stderr) == (done.returncode != 0)


def test_vocabulary_can_be_read_before_there_is_a_store(tmp_path: Path) -> None:
    def vocab(*more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, "library", "vocab", "components", "coredns", "-o", "json", *more],
            cwd=tmp_path,
            env=environment(XDG_DATA_HOME=str(tmp_path / "data")),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    (term,) = json.loads(vocab().stdout)["terms"]
    assert term["records"] == 0
    assert vocab("--store", "nowhere.db").returncode == 2
    assert not (tmp_path / "data").exists()
