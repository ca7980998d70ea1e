"""Kustomize and Helm that fail: one message each, and what lies there is read all the same."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pilotage.checks.readers import elsewhere
from pilotage.checks.readers.assemble import assemble
from pilotage.checks.readers.charts import HelmChoices
from pilotage.checks.readers.elsewhere import host_of
from pilotage.checks.readers.files import Reach, read_paths
from pilotage.checks.readers.reading import Reading
from pilotage.checks.registry import all_checks
from pilotage.checks.runner import RunSettings, run

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"
NO_HOST = """\
E1130 20:53:54.435610   22233 run.go:72] "command failed" err=<
\taccumulating resources: accumulation err='accumulating resources from '../o': '/o' must resolve to a file': \
recursed accumulation of path '/o': accumulating resources: accumulation err='accumulating resources from \
'github.com/acme/shop//deploy?ref=v1': evalsymlink failure on '/o/github.com/acme/shop' : lstat /o/github.com: \
no such file or directory': failed to run '/usr/bin/git fetch --depth=1 https://github.com/acme/shop v1': \
fatal: unable to access 'https://github.com/acme/shop/': Could not resolve host: github.com
\t: exit status 128
 >
"""
SLOW = NO_HOST.partition("failed to run")[0] + "hit 27s timeout running '/usr/bin/git fetch --depth=1 x'\n"
MISSING = "Error: accumulating resources: accumulation err='accumulating resources from 'b.yaml': open /o/b.yaml: no such file or directory': must build at directory: x\n"
Read = Callable[..., Reading]


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Read:
    """Reads folders with bases elsewhere by a tool that does what it is told, and counts."""
    tools = tmp_path / "tools"
    tools.mkdir()
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")

    def call(tool: str, code: str, files: dict[str, str]) -> Reading:
        script = f"open({str(tmp_path / 'calls')!r}, 'a').write('x')\n{code}\n"
        (tools / "tool.py").write_text(f"import os, sys, time\n{script}")
        (tools / tool).write_text(f'#!/bin/sh\nexec {sys.executable} -S {tools}/tool.py "$@"\n')
        (tools / tool).chmod(0o755)
        for name, text in files.items():
            (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "in" / name).write_text(text)
        return read_paths([str(tmp_path / "in")], reach=Reach(render=HelmChoices()))

    return call


def folders(number: int, base: str = "github.com/acme/shop//deploy?ref=v1") -> dict[str, str]:
    found = {f"o{n}/kustomization.yaml": f"resources: [pod.yaml, '{base}']\n" for n in range(number)}
    return found | {f"o{n}/pod.yaml": POD for n in range(number)}


def calls(tmp_path: Path) -> int:
    return len((tmp_path / "calls").read_text())


def messages(reading: Reading) -> list[str]:
    return [one.message for one in reading.problems]


@pytest.mark.parametrize(
    ("name", "host"),
    [
        ("github.com/acme/shop//deploy?ref=v1", "github.com"),
        ("https://github.com/acme/shop//deploy?ref=v1&timeout=9s", "github.com"),
        ("git@git.example.com:acme/shop", "git.example.com"),
        ("ssh://git@git.example.com:22/acme/shop", "git.example.com"),
        ("git::https://git.example.com/acme/shop", "git.example.com"),
        ("../base", ""),
        ("base.d/github.com", ""),
        ("pod.yaml", ""),
    ],
)
def test_where_a_base_lies(name: str, host: str) -> None:
    assert host_of(name) == host


def test_a_host_that_is_not_there_is_asked_once(read: Read, tmp_path: Path) -> None:
    inner = {"i/kustomization.yaml": "resources: [../o0]\n"}
    reading = read("kustomize", f"sys.stderr.write({NO_HOST!r}); sys.exit(1)", folders(5) | inner)
    assert calls(tmp_path) == 1
    assert messages(reading) == [
        (
            "cannot be rendered: 'github.com/acme/shop//deploy?ref=v1' cannot be fetched: "
            "fatal: unable to access 'https://github.com/acme/shop/': Could not resolve host: github.com"
        ),
        (
            "a Kustomize folder that is not rendered, like 3 more of them: github.com cannot be reached "
            "(--rendered takes all as it lies)"
        ),
    ]
    assert len(reading.objects) == 5


def test_a_base_that_is_missing_there_closes_no_host(read: Read, tmp_path: Path) -> None:
    said = NO_HOST.replace("Could not resolve host: github.com", "The requested URL returned error: 404")
    reading = read("kustomize", f"sys.stderr.write({said!r}); sys.exit(1)", folders(3))
    assert calls(tmp_path) == 3
    assert all("returned error: 404" in one for one in messages(reading))


def test_folders_that_need_nothing_from_there_are_rendered(read: Read, tmp_path: Path) -> None:
    code = f"sys.stderr.write({SLOW!r}); sys.exit(1)"
    reading = read("kustomize", code, folders(2) | {"z/kustomization.yaml": "resources: [b.yaml]\n"})
    assert calls(tmp_path) == 2
    assert messages(reading)[0].endswith("cannot be fetched: no answer in 27s")
    assert messages(reading)[-1].startswith("a Kustomize folder that is not rendered: github.com")


def test_all_that_is_fetched_has_one_time(
    read: Read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elsewhere, "MOST_SECONDS", 0.3)
    reading = read("kustomize", "time.sleep(60)", folders(4))
    assert calls(tmp_path) == 1
    assert "did not end within 0.3 s" in messages(reading)[0]
    assert (
        "like 2 more of them: what lies elsewhere is waited for no longer than 0.3 s" in messages(reading)[1]
    )


@pytest.mark.parametrize(
    ("tool", "code", "words"),
    [
        ("kustomize", f"sys.stderr.write({MISSING!r}); sys.exit(1)", "rendered: 'b.yaml': open /o/b.yaml: no such"),
        ("kustomize", "os.kill(os.getpid(), 9)", "cannot be rendered: kustomize was ended by SIGKILL"),
        ("kustomize", "sys.exit(1)", "cannot be rendered: no reason given"),
        ("kustomize", "os.write(1, b'<html>\\xff')", "what Kustomize answers for it holds no Kubernetes object"),
        ("kustomize", "os.write(2, b'\\xff'); sys.exit(3)", "cannot be rendered: \ufffd"),
        ("helm", "os.kill(os.getpid(), 15)", "helm cannot render the chart: helm was ended by SIGTERM"),
        ("helm", "print('<html>Sign in')", "what helm answers for it is no rendered chart: <html>Sign in"),
        ("helm", "sys.exit(1)", "helm cannot render the chart: no reason given"),
    ],
)  # fmt: skip
def test_tools_that_break_off_or_answer_something_else(read: Read, tool: str, code: str, words: str) -> None:
    files = {"k/kustomization.yaml": "resources: [pod.yaml]\n", "k/pod.yaml": POD}
    if tool == "helm":
        files = {"c/Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\n", "pod.yaml": POD}
    reading = read(tool, code, files)
    (problem,) = reading.problems
    assert words in problem.message
    assert problem.grave
    assert [one.key for one in reading.objects] == ["Pod a"]


@pytest.mark.parametrize(("api", "rendered"), [("kustomize.toolkit.fluxcd.io/v1", True), ("apps/v1", False)])
def test_where_flux_applies_folders_files_may_lie_anywhere(
    read: Read, tmp_path: Path, api: str, *, rendered: bool
) -> None:
    code = (
        f"if '--load-restrictor=LoadRestrictionsNone' in sys.argv: print({POD!r})\n"
        "else: sys.stderr.write(\"security; file '/o' is not in or below '/p'\"); sys.exit(1)"
    )
    files = {f"k{n}/kustomization.yaml": "resources: [../pod.yaml]\n" for n in range(2)}
    reading = read(
        "kustomize", code, files | {"sync.yaml": f"apiVersion: {api}\nkind: A\nmetadata: {{name: a}}\n"}
    )
    assert calls(tmp_path) == (3 if rendered else 2)
    assert ("is not in or below" in str(messages(reading))) is not rendered


def test_what_no_kustomization_names_beside_others_is_milder_and_told_so(tmp_path: Path) -> None:
    (tmp_path / "kustomization.yaml").write_text("resources: [named.yaml]\n")
    (tmp_path / "apart").mkdir()
    for name in ("named.yaml", "left.yaml", "apart/own.yaml"):
        (tmp_path / name).write_text(POD + "spec: {containers: [{image: a:1}]}\n")
    reading = read_paths([str(tmp_path)])
    report = run(all_checks(), assemble(reading), RunSettings(select=("missing-required",)), reading=reading)
    told = {Path(one.place.file).name: one for one in report.findings}
    assert {name: str(one.severity) for name, one in told.items()} == {
        "named.yaml": "high",
        "own.yaml": "high",
        "left.yaml": "medium",
    }
    assert "No kustomization here names this file" in told["left.yaml"].fix
