"""What a CI does with us, done: the Action as a runner takes it, the lines of GitLab's snippet, pre-commit's hook.

Each installs the product anew, as it would there, from this repository as it is committed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
import venv
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

from meta.tree import ROOT
from rig.browser import needed
from rig.kept import kept

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(900)]

CRON = (ROOT / "tests" / "golden" / "checks" / "cron-policy-misplaced" / "bad-zalando.yaml").read_text(
    "utf-8"
)
FINE = (ROOT / "tests" / "golden" / "checks" / "cron-policy-misplaced" / "ok-right-level.yaml").read_text(
    "utf-8"
)
PRE_COMMIT = "pre-commit==4.3.0"
_EXPRESSION = re.compile(r"\$\{\{ (\w+)\.([\w.-]+) \}\}")


def shell(script: str, folder: Path, variables: Mapping[str, str]) -> tuple[int, str]:
    """A script as a runner runs it: bash, stopping at the first error."""
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder, env=dict(variables), capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheels() -> Path:
    """What the installations below ask the index for, asked once per machine: our dependencies, the builder, pre-commit."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wanted = [*project["build-system"]["requires"], *project["project"]["dependencies"], PRE_COMMIT]

    def download(folder: Path) -> None:
        command = ["download", "-q", "--only-binary", ":all:", "-d", str(folder), *wanted]
        done = subprocess.run(
            [sys.executable, "-m", "pip", *command],
            capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        installed(done.returncode, done.stdout + done.stderr)

    named = hashlib.sha256("\n".join([sys.version, *wanted]).encode()).hexdigest()[:16]
    return kept(f"wheels-{named}", download)


@pytest.fixture
def bare(tmp_path: Path, wheels: Path) -> dict[str, str]:
    """Variables of a machine on which there is Python and Git, and nothing of ours."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("python", "python3"):
        (tools / name).symlink_to(Path(sys.executable).resolve())
    kept = {
        key: value for key, value in os.environ.items() if key.startswith(("PIP_", "SSL_", "http", "HTTP"))
    }
    author = {
        f"GIT_{who}_{what}": "somebody" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    found = {
        "PATH": os.pathsep.join([str(tools), "/usr/local/bin", "/usr/bin", "/bin"]),
        "HOME": os.environ.get("HOME", str(tmp_path)),
        "LANG": "C.UTF-8",
        # For a switch that begins with "no", pip takes the truth of what it switches.
        "PIP_NO_COMPILE": "0",
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheels),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "PRE_COMMIT_HOME": str(tmp_path / "hooks"),
    }
    return kept | author | found


@pytest.fixture
def repository(tmp_path: Path, bare: dict[str, str]) -> Path:
    """A repository on a branch that brings a bad CronJob beside one that was there."""
    folder = tmp_path / "work"
    (folder / "deploy").mkdir(parents=True)
    (folder / "deploy" / "old.yaml").write_text(CRON.replace("name: ", "name: old-"), encoding="utf-8")
    git = (
        "git init -q -b main; git add -A; git commit -q -m one; git update-ref refs/remotes/origin/main HEAD"
    )
    assert shell(git, folder, bare) == (0, "")
    (folder / "deploy" / "new.yaml").write_text(CRON, encoding="utf-8")
    assert shell("git checkout -q -b change; git add -A; git commit -q -m two", folder, bare) == (0, "")
    return folder


def installed(code: int, said: str) -> None:
    if code and re.search("No matching distribution|Connection|Temporary failure|timed out", said):
        needed(f"packages could not be installed: {said[-300:]}")
    assert code == 0, said


class Runner:
    """A runner of composite actions: inputs, outputs of steps, and the files by which steps speak.

    Args:
        folder: a folder of its own.
        work: the checkout.
        variables: the machine.
    """

    def __init__(self, folder: Path, work: Path, variables: Mapping[str, str]) -> None:
        self.work = work
        self.files = {name: folder / name for name in ("GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")}
        for path in self.files.values():
            path.touch()
        (folder / "temp").mkdir()
        self.variables = {
            **variables,
            **{name: str(path) for name, path in self.files.items()},
            "RUNNER_TEMP": str(folder / "temp"),
            "GITHUB_ACTION_PATH": str(ROOT),
        }
        self.outputs: dict[str, dict[str, str]] = {}

    def run(self, action: dict, **given: str) -> tuple[int, str, dict[str, str]]:
        """Exit code, what was printed, and the outputs of the action."""
        inputs = {name: one["default"] for name, one in action["inputs"].items()} | given
        code, said = 0, ""
        for number, step in enumerate(action["runs"]["steps"]):
            if "run" not in step or code:
                continue
            env = {name: self._filled(value, inputs) for name, value in step.get("env", {}).items()}
            code, said = shell(step["run"], self.work, {**self.variables, **env})
            if number == 1:
                installed(code, said)
            added = self.files["GITHUB_PATH"].read_text().splitlines()
            self.variables["PATH"] = os.pathsep.join([*reversed(added), self.variables["PATH"]])
            lines = self.files["GITHUB_OUTPUT"].read_text().splitlines()
            self.outputs[step.get("id", "")] = dict(line.split("=", 1) for line in lines)
        return (
            code,
            said,
            {name: self._filled(one["value"], inputs) for name, one in action["outputs"].items()},
        )

    def _filled(self, text: str, inputs: Mapping[str, str]) -> str:
        def value(found: re.Match[str]) -> str:
            if found[1] == "inputs":
                return inputs[found[2]]
            step, _, name = found[2].partition(".outputs.")
            return self.outputs[step][name]

        return _EXPRESSION.sub(value, text)


def test_the_action_as_a_runner_takes_it(tmp_path: Path, repository: Path, bare: dict[str, str]) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    runner = Runner(tmp_path, repository, bare)
    code, said, outputs = runner.run(action, paths="deploy", **{"changed-since": "origin/main"})
    assert code == 1, said
    notes = [line for line in said.splitlines() if line.startswith("::")]
    assert notes
    assert all("file=deploy/new.yaml," in line for line in notes)
    log = json.loads(Path(outputs["sarif"]).read_text("utf-8"))
    places = {
        one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for one in log["runs"][0]["results"]
    }
    assert places == {"deploy/new.yaml"}
    assert Path(outputs["html"]).read_text("utf-8").startswith("<!doctype html>")
    summary = runner.files["GITHUB_STEP_SUMMARY"].read_text("utf-8")
    assert summary == Path(outputs["markdown"]).read_text("utf-8")
    assert "cron-policy-misplaced" in summary


def test_the_lines_of_the_snippet_for_gitlab(repository: Path, bare: dict[str, str]) -> None:
    page = (ROOT / "docs" / "howto" / "checks-in-ci.md").read_text("utf-8")
    snippet = next(
        block for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if "CI_MERGE_REQUEST" in block
    )
    job = yaml.safe_load(snippet)["pilotage"]
    there = "git+https://github.com/OWNER/pilotage@REF"
    assert any(there in line for line in job["script"])
    _, commit = shell("git rev-parse HEAD", ROOT, bare)
    script = [line.replace(there, f"git+file://localhost{ROOT}@{commit.strip()}") for line in job["script"]]
    variables = {**bare, **job["variables"], "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main"}
    installed(*shell("\n".join(script[:-1]), repository, variables))
    code, said = shell(script[-1], repository, variables)
    assert code == 1, said
    assert "deploy/new.yaml" in said
    assert "deploy/old.yaml" not in said
    report = job["artifacts"]["reports"]["junit"]
    failed = ET.parse(repository / report).getroot().findall(".//testcase/failure")
    assert "deploy/new.yaml" in str(failed[0].text)
    assert all((repository / path).exists() for path in job["artifacts"]["paths"])


def test_the_hook_of_pre_commit(tmp_path: Path, repository: Path, bare: dict[str, str]) -> None:
    venv.create(tmp_path / "tool")
    tool = tmp_path / "tool" / "bin"
    pip = f"{sys.executable} -m pip --python {tool}/python"
    installed(*shell(f"{pip} install -q {PRE_COMMIT}", repository, bare))
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    config = {"repos": [{"repo": str(ROOT), "rev": "HEAD", "hooks": [{"id": hook["id"]}]}]}
    (repository / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    installed(*shell(f"git add -A; {tool}/pre-commit install-hooks", repository, bare))
    (repository / "deploy" / "fine.yaml").write_text(FINE, encoding="utf-8")
    code, said = shell(f"git add -A; {tool}/pre-commit run", repository, bare)
    assert code == 0, said
    assert "Passed" in said
    (repository / "deploy" / "third.yaml").write_text(
        CRON.replace("name: ", "name: third-"), encoding="utf-8"
    )
    code, said = shell(f"git add -A; {tool}/pre-commit run", repository, bare)
    assert code == 1, said
    assert "deploy/third.yaml" in said
    assert "deploy/new.yaml" not in said
