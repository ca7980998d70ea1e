"""What is asked for wrongly is told at once, with the place and what to do, and nothing is half done."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from pilotage.cli.main import run

CRON = (
    Path(__file__).parents[2] / "golden" / "checks" / "cron-policy-misplaced" / "bad-zalando.yaml"
).read_text("utf-8")
ONE = ("--select", "cron-policy-misplaced")
Call = Callable[..., SimpleNamespace]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Call:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gc.disable", lambda: None)
    (tmp_path / "deploy").mkdir()
    (tmp_path / "deploy" / "cron.yaml").write_text(CRON, "utf-8")
    (tmp_path / "empty").mkdir()
    (tmp_path / "round").symlink_to("round")
    (tmp_path / "nothing.yaml").write_text("\n", "utf-8")
    (tmp_path / "bytes.yaml").write_bytes(b"a: \x00\x01\x02\n")

    def call(*arguments: str) -> SimpleNamespace:
        with pytest.raises(SystemExit) as stop:
            run(["check", *arguments])
        captured = capsys.readouterr()
        return SimpleNamespace(code=int(stop.value.code or 0), out=captured.out, err=captured.err)

    return call


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["lst"], "'lst' is neither a command nor a path. Did you mean 'list'?"),
        (["./lst"], "./lst does not exist"),
        (["lis*"], "lis* means no file"),
        (["deploy", "--to", "no/report"], "cannot write no/report: there is no folder no"),
        (["deploy", "--also", "sarif=no/a.sarif"], "cannot write no/a.sarif: there is no folder no"),
        (["deploy", "--write-baseline", "deploy"], "cannot write deploy: it is a folder"),
        (["deploy", "--to", "n" * 300], "nn: it is not writable"),
        (["deploy", "--checks", "n" * 300], "File name too long"),
        (["deploy", "--checks", "round"], "round cannot be read: Too many levels of symbolic links"),
        (["cluster", "--kubeconfig", "round"], "kubeconfig round cannot be read: Too many levels"),
        (["cluster", "--kubeconfig", "~nobody-of-that-name/x"], "/x does not exist"),
        (["deploy", "--baseline", "deploy"], "Name a file that you may read"),
        (["deploy", "--config", "deploy"], "Name a file that you may read"),
        (["deploy", "--kubernetes", "new"], "--kubernetes new: write a version such as 1.34"),
        # The path is wrong as well: the check is told first, since nothing was read yet.
        (["files", "gone", "--select", "nope"], "'nope' names no check"),
        (["files", "gone", "--severity", "nope=low"], "'nope' names no check"),
        (["list", "--family", "nope"], "Known are: api_versions, "),
        (["list", "--family", "webhook"], "Did you mean 'webhooks'"),
        (
            ["list", "--severity", "hihg"],
            "--severity takes critical, high, medium, low, not 'hihg'. Did you mean 'high'?",
        ),
        (["list", "--incident", "nope"], "the library has no incident 'nope'"),
        (["list", "--family", "own"], "there are no checks of your own"),
    ],
)
def test_wrong_use_ends_in_exit_code_2_before_anything_is_read(
    said: Call, arguments: list[str], told: str
) -> None:
    answer = said(*arguments)
    assert answer.code == 2
    assert told in answer.err
    assert not answer.out


def test_no_report_is_written_where_another_cannot_be(said: Call, tmp_path: Path) -> None:
    assert said("deploy", "--to", "first.txt", "--also", "sarif=no/a.sarif").code == 2
    assert not (tmp_path / "first.txt").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["empty"], "it has no manifest and no configuration that we know by its name"),
        (["deploy", "--exclude", "deploy/**"], "what --exclude or pilotage.toml excludes was passed over"),
        (["nothing.yaml"], "nothing.yaml: it is empty"),
        (["bytes.yaml"], "bytes.yaml: it is no text"),
    ],
)
def test_input_in_which_there_is_nothing_is_no_pass(said: Call, arguments: list[str], told: str) -> None:
    answer = said(*arguments)
    assert answer.code == 3
    assert told in answer.out


def test_standard_input_without_anything_names_the_likely_cause(
    said: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    answer = said("-")
    assert (answer.code, "the command before the pipe wrote nothing" in answer.out) == (3, True)
    monkeypatch.setattr(sys, "stdin", None)
    answer = said("-")
    assert (answer.code, "standard input is closed" in answer.err) == (2, True)


@pytest.mark.parametrize(("version", "nearest"), [("1.10", "1.25"), ("9.99", "1.37")])
def test_a_version_without_definitions_is_judged_as_the_nearest_and_that_is_told(
    said: Call, version: str, nearest: str
) -> None:
    answer = said("deploy", *ONE, "--kubernetes", version)
    assert answer.code == 1
    assert f"{version} is judged as {nearest}" in answer.err
    assert not said("deploy", *ONE, "--kubernetes", "1.36").err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--baseline", "/dev/zero"), "cannot read /dev/zero: File too large"),
        (("--config", "/dev/zero"), "cannot read /dev/zero: File too large"),
        (("--checks", "/dev/zero"), "/dev/zero has more than"),
        (("--baseline", "deep"), "deep is no baseline"),
        (("--config", "deep.toml"), "deep.toml: "),
        (("",), "an empty name is no path"),
    ],
)
def test_files_beside_the_manifests_that_have_no_end_or_no_bottom(
    said: Call, arguments: tuple[str, ...], words: str
) -> None:
    Path("deep").write_text("[" * 100_000)
    Path("deep.toml").write_text("a = " + "[" * 100_000)
    done = said("deploy", *arguments)
    assert done.code == 2
    assert done.err.startswith(f"pilotage: {words}")
    assert "Traceback" not in done.err


def test_standard_input_that_is_named_twice_is_read_once(said: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(CRON.encode())))
    done = said("-", "-", "--fail-on", "never", *ONE)
    assert done.code == 0
    assert "1 object in 1 file" in done.out
