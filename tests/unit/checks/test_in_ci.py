"""The GitHub Action and the pre-commit hook: their files hold together, and the Action's script runs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from meta.tree import ROOT
from pilotage.cli.check.files import files

BAD = ROOT / "tests" / "golden" / "checks" / "cron-policy-misplaced" / "bad-zalando.yaml"
OPTIONS = {name for parameter in files.params for name in parameter.opts}


def step() -> dict:
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    (found,) = [one for one in action["runs"]["steps"] if one.get("id") == "check"]
    return found


def ran(folder: Path, **inputs: str) -> tuple[int, str]:
    """The script of the Action, as a runner runs it."""
    names = {name: folder / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    given = {"PATHS": ".", "CHANGED_SINCE": "", "FAIL_ON": "", "ARGUMENTS": ""} | inputs
    tools = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    variables = {**os.environ, "PATH": tools, "RUNNER_TEMP": str(folder / "temp"), **given}
    variables |= {name: str(path) for name, path in names.items()}
    work = folder / "work"
    work.mkdir(exist_ok=True)
    (work / "a.yaml").write_text(BAD.read_text("utf-8"), encoding="utf-8")
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step()["run"]],
        cwd=work, env=variables, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_the_action_annotates_summarises_and_leaves_reports(tmp_path: Path) -> None:
    code, said = ran(tmp_path)
    assert code == 1
    assert said.startswith("::error file=a.yaml,line=14,")
    outputs = dict(line.split("=", 1) for line in (tmp_path / "GITHUB_OUTPUT").read_text().splitlines())
    assert json.loads(Path(outputs["sarif"]).read_text())["version"] == "2.1.0"
    assert Path(outputs["html"]).read_text().startswith("<!doctype html>")
    assert (tmp_path / "GITHUB_STEP_SUMMARY").read_text() == Path(outputs["markdown"]).read_text()


def test_inputs_of_the_action_are_options_or_paths_and_never_commands(tmp_path: Path) -> None:
    code, _ = ran(tmp_path, FAIL_ON="never", ARGUMENTS="--select=cronjobs\n--no-config\n", PATHS="a.yaml\n\n")
    assert code == 0
    code, said = ran(tmp_path, PATHS='$(touch "$RUNNER_TEMP/../made")')
    assert code == 2
    assert "does not exist" in said
    assert not (tmp_path / "made").exists()
    code, said = ran(tmp_path, PATHS="--help")
    assert (code, "does not exist" in said) == (2, True)


def test_no_input_stands_in_a_script() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    for one in action["runs"]["steps"]:
        assert "${{" not in one.get("run", "")
    used = set(re.findall(r"inputs\.([a-z-]+)", (ROOT / "action.yml").read_text("utf-8")))
    assert used == action["inputs"].keys()


def test_options_of_the_hook_and_of_the_action_exist() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    used = {one for one in hook["args"] if one.startswith("-")}
    used |= set(re.findall(r"--[a-z-]+", step()["run"]))
    assert used <= OPTIONS
    assert re.search(hook["files"], "deploy/a.yaml")
    assert not re.search(hook["files"], "README.md")


@pytest.mark.parametrize("page", ["checks-in-ci.md", "live-with-findings.md"])
def test_options_in_the_pages_exist(page: str) -> None:
    text = (ROOT / "docs" / "howto" / page).read_text("utf-8")
    lines = [line for line in text.splitlines() if "pilotage check" in line]
    used = {option for line in lines for option in re.findall(r"(?<=\s)(--[a-z-]+)", line)}
    assert used
    assert used <= OPTIONS
