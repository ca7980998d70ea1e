"""`pilotage check files`, which is what `pilotage check PATH…` runs."""

from __future__ import annotations

import gc
import os
import re
import shutil
import sys
from pathlib import Path

import click

from pilotage.checks.baseline import baseline_text, read_baseline
from pilotage.checks.model import Severity
from pilotage.checks.readers.files import read_paths
from pilotage.checks.registry import all_checks
from pilotage.checks.report import Report
from pilotage.checks.reports import as_github, as_json, as_junit, as_markdown, as_sarif, as_text
from pilotage.checks.runner import RunSettings, run
from pilotage.checks.scene import LATEST, Scene
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


@click.command(no_args_is_help=True)
@click.argument("paths", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    type=click.Choice(["text", *_FORMS]),
    default="text",
    show_default=True,
    help="Form of the report.",
)
@click.option(
    "--fail-on",
    type=click.Choice([*map(str, Severity), NEVER]),
    default="high",
    show_default=True,
    help="Least severity of a finding that ends in exit code 1.",
)
@click.option("--select", multiple=True, metavar="CHECK", help="Only this check, family or glob; repeatable.")
@click.option("--ignore", multiple=True, metavar="CHECK", help="Not this check, family or glob; repeatable.")
@click.option(
    "--severity",
    "severities",
    multiple=True,
    metavar="CHECK=LEVEL",
    help="Another severity for a check; repeatable.",
)
@click.option(
    "--baseline", type=click.Path(path_type=Path), help="Show only findings that this file does not hold."
)
@click.option("--write-baseline", type=click.Path(path_type=Path), help="Write all findings to this file.")
@click.option("--kubernetes", "version", metavar="X.Y", help="Version that the manifests are meant for.")
@click.option(
    "--chart-defaults",
    is_flag=True,
    help="The files are charts rendered with their defaults: judge sizes mildly.",
)
def files(
    paths: tuple[str, ...],
    output: str,
    fail_on: str,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    severities: tuple[str, ...],
    baseline: Path | None,
    write_baseline: Path | None,
    version: str | None,
    chart_defaults: bool,
) -> int:
    """Check manifests: files, folders, globs; - is standard input. All of them together are one scene.

    Exit codes: 0 nothing as severe as --fail-on, 1 findings, 2 wrong use, 3 something that was asked for
    could not be read.

    \b
    Examples:
      pilotage check .
      pilotage check deploy/ --select webhooks --fail-on medium
      helm template shop ./chart | pilotage check - --output github
      pilotage check deploy/ --write-baseline .pilotage-baseline.json
      pilotage check deploy/ --baseline .pilotage-baseline.json --output sarif
    """
    # One run and the process ends: what the collector would look through again and again is all still in use.
    gc.disable()
    checks = all_checks()
    settings = RunSettings(
        select=select,
        ignore=ignore,
        severities=dict(_severity(text) for text in severities),
        baseline=read_baseline(baseline) if baseline is not None else None,
    )
    reading = read_paths(paths, chart_defaults=chart_defaults)
    scene = Scene(reading.objects, reading.configs, version=_version(version))
    report = run(checks, scene, settings, reading=reading)
    if write_baseline is not None:
        _write(write_baseline, baseline_text([*report.findings, *report.known]))
    _say(report, output)
    return _exit_code(report, fail_on, written=write_baseline is not None)


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


def _version(text: str | None) -> tuple[int, int]:
    if text is None:
        return LATEST
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
