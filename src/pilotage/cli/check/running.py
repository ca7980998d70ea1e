"""What every command that runs checks shares: its options, the report, the exit code."""

from __future__ import annotations

import datetime as dt
import fnmatch
import importlib
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import click
import msgspec

from pilotage.checks.baseline import Baseline, baseline_text, read_baseline
from pilotage.checks.model import Check, Severity
from pilotage.checks.readers.reading import Reading
from pilotage.checks.report import Report
from pilotage.checks.reports.words import Lang
from pilotage.checks.rules.rule import RuleBook
from pilotage.checks.rules.toml_file import NEVER, HouseRules
from pilotage.checks.runner import RunSettings, chosen, run
from pilotage.checks.scene import Scene
from pilotage.checks.schema.published import minors, nearest_minor
from pilotage.checks.target import EXAMPLE, read_target
from pilotage.cli.check.incidents import incidents_of
from pilotage.cli.check.own import Ground, ground_options, house_rules, known_checks
from pilotage.cli.main import EXIT_FINDINGS, EXIT_OK, EXIT_OUTSIDE
from pilotage.core.errors import UserError
from pilotage.core.paths import is_absent, is_folder

_FOR_PROGRAMS = ("json", "sarif", "junit", "github")
_FOR_PEOPLE = ("markdown", "html")
_FAIL_ON = "high"
_WRITABLE = "Name a file that you may write."

_OPTIONS = (
    click.option(
        "-o",
        "--output",
        type=click.Choice(["text", *_FOR_PROGRAMS, *_FOR_PEOPLE]),
        default="text",
        show_default=True,
        help="Form of the report.",
    ),
    click.option(
        "--to", type=click.Path(path_type=Path, dir_okay=False), help="Write the report to this file."
    ),
    click.option(
        "--also",
        multiple=True,
        metavar="FORM=FILE",
        help="Write the report in another form as well: --also sarif=report.sarif; repeatable.",
    ),
    click.option(
        "--lang",
        type=click.Choice(["en", "ko"]),
        help="Language; what findings and fixes say is English. Default: that of the locale.",
    ),
    click.option(
        "--fail-on",
        type=click.Choice([*map(str, Severity), NEVER]),
        help=f"Least severity of a finding that ends in exit code 1; default: {_FAIL_ON}.",
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


class Wishes(msgspec.Struct, frozen=True):
    """What the user asked of a run, as the options give it."""

    output: str
    to: Path | None
    also: tuple[str, ...]
    lang: Lang | None
    fail_on: str | None
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    severities: tuple[str, ...]
    baseline: Path | None
    write_baseline: Path | None
    ground: Ground


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command the options of `Wishes`."""
    command = ground_options(command)
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def settings_of(wishes: Wishes, *, whole: bool = True, before: Baseline | None = None) -> RunSettings:
    """The settings of a run; all that can be wrong about them is found before anything is read.

    Args:
        wishes: the options, which beat the file.
        whole: whether the run covers everything that rules of the file can mean.
        before: findings that were there before the change in question.
    """
    house = house_rules(wishes.ground)
    checks = known_checks(wishes.ground)
    _refuse_unwritable([wishes.to, wishes.write_baseline, *(_also(text)[1] for text in wishes.also)])
    said = dict(_severity(text) for text in wishes.severities)
    found = RunSettings(
        select=wishes.select or house.select,
        ignore=wishes.ignore or house.ignore,
        severities={**said, **_by_id(said, checks)},
        usual_severities=_by_id(house.severities or {}, checks),
        baseline=read_baseline(wishes.baseline) if wishes.baseline is not None else None,
        before=before,
        rules=RuleBook(
            house.rules,
            folder=house.folder,
            today=dt.datetime.now(dt.UTC).date(),
            whole=whole,
        ),
    )
    chosen(checks, found)
    return found


def _by_id(said: Mapping[str, Severity], checks: Mapping[str, Check]) -> dict[str, Severity]:
    """Severities by id: what names one check beats globs and families, whatever the order."""
    found: dict[str, Severity] = {}
    for word, severity in sorted(said.items(), key=lambda item: item[0] in checks):
        for one in checks.values():
            if one.family == word or fnmatch.fnmatchcase(one.id, word):
                found[one.id] = severity
    return found


def finish(scene: Scene, reading: Reading, settings: RunSettings, wishes: Wishes) -> int:
    """Runs the checks, prints the report and gives the exit code."""
    house = house_rules(wishes.ground)
    report = run(known_checks(wishes.ground), scene, settings, reading=reading)
    if wishes.write_baseline is not None:
        _write(wishes.write_baseline, baseline_text([*report.findings, *report.known, *report.before]))
    _say(report, wishes, house)
    fail_on = wishes.fail_on or house.fail_on or _FAIL_ON
    return _exit_code(report, fail_on, written=wishes.write_baseline is not None)


def _say(report: Report, wishes: Wishes, house: HouseRules) -> None:
    for form, file in map(_also, wishes.also):
        _write(file, _rendered(report, form, wishes, house))
    if wishes.to is not None:
        _write(wishes.to, _rendered(report, wishes.output, wishes, house))
        return
    text = _rendered(report, wishes.output, wishes, house, terminal=sys.stdout.isatty())
    click.echo(text.encode("utf-8", "replace").decode("utf-8"), nl=False, color=True)


def _rendered(report: Report, form: str, wishes: Wishes, house: HouseRules, *, terminal: bool = False) -> str:
    # What programs read is the same wherever it is made.
    lang = wishes.lang or ("en" if form in _FOR_PROGRAMS else language(house))
    incidents = incidents_of(report.checks.values(), lang)
    # Each form needs modules that the others do not.
    render: Callable[..., str] = importlib.import_module(f"pilotage.checks.reports.as_{form}").render
    if form == "json":
        return render(report, incidents)
    if form != "text":
        return render(report, incidents, lang=lang)
    width = shutil.get_terminal_size().columns if terminal else 0
    colour = terminal and "NO_COLOR" not in os.environ
    return render(report, incidents, width=width, colour=colour, lang=lang)


def _also(text: str) -> tuple[str, Path]:
    form, sign, file = text.partition("=")
    if not sign or not file or form not in {"text", *_FOR_PROGRAMS, *_FOR_PEOPLE}:
        forms = ", ".join(["text", *_FOR_PROGRAMS, *_FOR_PEOPLE])
        raise click.UsageError(f"--also {text}: write FORM=FILE with a form of {forms}")
    return form, Path(file)


def language(house: HouseRules) -> Lang:
    """The language of what people read: the variable, the file, the locale."""
    wanted = os.environ.get("PILOTAGE_LANG") or house.lang
    if not wanted:
        wanted = next(
            (os.environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if os.environ.get(name)), ""
        )
    return "ko" if wanted.startswith("ko") else "en"


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
    version = read_target(text)
    if version is None:
        raise click.UsageError(f"--kubernetes {text}: write a version such as {EXAMPLE}")
    known = minors()
    if version[0] != 1 or not known[0] <= version[1] <= known[-1]:
        told = f"1.{known[0]} to 1.{known[-1]} are known; {text} is judged as 1.{nearest_minor(version)}"
        click.echo(f"pilotage: of Kubernetes {told}", err=True)
    return version


def _refuse_unwritable(paths: Iterable[Path | None]) -> None:
    """Finds what could not be written at the end of a run before it begins."""
    for path in filter(None, paths):
        if is_folder(path):
            raise UserError(f"cannot write {path}: it is a folder", hint="Name a file.")
        if not is_folder(path.parent):
            raise UserError(f"cannot write {path}: there is no folder {path.parent}", hint="Make it first.")
        if not os.access(path.parent if is_absent(path) else path, os.W_OK):
            raise UserError(f"cannot write {path}: it is not writable", hint=_WRITABLE)


def _write(path: Path, text: str) -> None:
    try:
        path.write_bytes(text.encode("utf-8", "replace"))
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}", hint=_WRITABLE) from error
