"""What every command that runs checks shares: its options, the report, the exit code."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from pilotage.checks.baseline import baseline_text, read_baseline
from pilotage.checks.model import Severity
from pilotage.checks.readers.reading import Reading
from pilotage.checks.registry import all_checks
from pilotage.checks.report import Report
from pilotage.checks.reports import as_github, as_json, as_junit, as_markdown, as_sarif, as_text
from pilotage.checks.runner import RunSettings, run
from pilotage.checks.scene import Scene
from pilotage.cli.check.incidents import incidents_of
from pilotage.cli.main import EXIT_FINDINGS, EXIT_OK, EXIT_OUTSIDE
from pilotage.core.errors import UserError

_FORMS = {
    "json": as_json.render,
    "sarif": as_sarif.render,
    "junit": as_junit.render,
    "github": as_github.render,
    "markdown": as_markdown.render,
}
NEVER = "never"

_OPTIONS = (
    click.option(
        "-o",
        "--output",
        type=click.Choice(["text", *_FORMS]),
        default="text",
        show_default=True,
        help="Form of the report.",
    ),
    click.option(
        "--fail-on",
        type=click.Choice([*map(str, Severity), NEVER]),
        default="high",
        show_default=True,
        help="Least severity of a finding that ends in exit code 1.",
    ),
    click.option(
        "--select", multiple=True, metavar="CHECK", help="Only this check, family or glob; repeatable."
    ),
    click.option(
        "--ignore", multiple=True, metavar="CHECK", help="Not this check, family or glob; repeatable."
    ),
    click.option(
        "--severity",
        "severities",
        multiple=True,
        metavar="CHECK=LEVEL",
        help="Another severity for a check; repeatable.",
    ),
    click.option(
        "--baseline",
        type=click.Path(path_type=Path),
        help="Show only findings that this file does not hold.",
    ),
    click.option(
        "--write-baseline", type=click.Path(path_type=Path), help="Write all findings to this file."
    ),
)


@dataclass(frozen=True)
class Wishes:
    """What the user asked of a run, as the options give it."""

    output: str
    fail_on: str
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    severities: tuple[str, ...]
    baseline: Path | None
    write_baseline: Path | None


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command the options of `Wishes`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def settings_of(wishes: Wishes) -> RunSettings:
    """The settings of a run; all that can be wrong about them is found before anything is read."""
    return RunSettings(
        select=wishes.select,
        ignore=wishes.ignore,
        severities=dict(_severity(text) for text in wishes.severities),
        baseline=read_baseline(wishes.baseline) if wishes.baseline is not None else None,
    )


def finish(scene: Scene, reading: Reading, settings: RunSettings, wishes: Wishes) -> int:
    """Runs the checks, prints the report and gives the exit code."""
    report = run(all_checks(), scene, settings, reading=reading)
    if wishes.write_baseline is not None:
        _write(wishes.write_baseline, baseline_text([*report.findings, *report.known]))
    _say(report, wishes.output)
    return _exit_code(report, wishes.fail_on, written=wishes.write_baseline is not None)


def _say(report: Report, output: str) -> None:
    incidents = incidents_of(report.checks.values())
    if output == "text":
        terminal = sys.stdout.isatty()
        width = shutil.get_terminal_size().columns if terminal else 0
        text = as_text.render(
            report, incidents, width=width, colour=terminal and "NO_COLOR" not in os.environ
        )
    else:
        text = _FORMS[output](report, incidents)
    click.echo(text.encode("utf-8", "replace").decode("utf-8"), nl=False, color=True)


def _exit_code(report: Report, fail_on: str, *, written: bool) -> int:
    if fail_on != NEVER and not written and report.reaches(Severity(fail_on)):
        return EXIT_FINDINGS
    return EXIT_OUTSIDE if report.grave_problems else EXIT_OK


def _severity(text: str) -> tuple[str, Severity]:
    name, sign, level = text.partition("=")
    if not sign or level not in set(Severity):
        raise click.UsageError(f"--severity {text}: write CHECK=LEVEL with a level of {', '.join(Severity)}")
    return name, Severity(level)


def version_of(text: str) -> tuple[int, int]:
    """The Kubernetes version of `--kubernetes X.Y`."""
    match = re.fullmatch(r"v?(\d+)\.(\d+)(?:\.\d+)?", text)
    if match is None:
        raise click.UsageError(f"--kubernetes {text}: write a version such as 1.34")
    return int(match[1]), int(match[2])


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(
            f"cannot write {path}: {error.strerror}", hint="Name a file that you may write."
        ) from error
