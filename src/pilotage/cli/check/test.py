"""`pilotage check test`: tries users' checks on their own cases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pilotage.checks.own.checks import prove
from pilotage.checks.own.evaluation import Evaluator
from pilotage.checks.own.reading import read_files
from pilotage.checks.own.trying import Trial, try_checks
from pilotage.checks.registry import all_checks
from pilotage.cli.check.own import Ground, config_options, house_rules
from pilotage.cli.main import EXIT_FINDINGS, EXIT_OK, EXIT_OUTSIDE
from pilotage.cli.output import console, say, say_json
from pilotage.core.counting import counted
from pilotage.core.errors import NotFound


@click.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Form of the answer.",
)
@click.option(
    "--strict", is_flag=True, help="A check without a case for a gap and one for a pass fails, too."
)
@config_options
def test(files: tuple[Path, ...], output: str, strict: bool, config: Path | None, no_config: bool) -> int:
    """Try checks of your own on the cases that stand beside them.

    FILES are files of checks, folders of them or globs; without any, those that pilotage.toml names. Exit
    codes: 0 all cases are as expected, 1 some are not, 2 a file of checks is wrong, 3 the manifests of a case
    cannot be read.

    \b
    Examples:
      pilotage check test
      pilotage check test our-checks.yaml
      pilotage check test team-checks/ --strict
    """
    checks = read_files(files or _named(Ground(config=config, no_config=no_config)), all_checks())
    with Evaluator() as evaluator:
        prove(checks, evaluator)
        trial = try_checks(checks, evaluator)
    if not trial.tried:
        raise NotFound(
            f"none of {counted(len(checks), 'check')} has a case to try", hint="Cases stand under 'tests'."
        )
    if output == "json":
        say_json(_value(trial))
    else:
        _say(trial)
    if any(one.unread for one in trial.tried):
        return EXIT_OUTSIDE
    return EXIT_FINDINGS if trial.failed or (strict and trial.lacking) else EXIT_OK


def _named(ground: Ground) -> tuple[Path, ...]:
    named = house_rules(ground).own
    if not named:
        raise click.UsageError(
            "there are no checks to try: name files, or write own = [...] in pilotage.toml"
        )
    return named


def _value(trial: Trial) -> dict[str, Any]:
    return {
        "cases": [
            {"check": one.check, "case": one.case, "ok": not one.wrong, "wrong": list(one.wrong)}
            for one in trial.tried
        ],
        "failed": len(trial.failed),
        "lacking": {id_: list(words) for id_, words in trial.lacking.items()},
    }


def _say(trial: Trial) -> None:
    out = console()
    last = ""
    for one in trial.tried:
        if one.check != last:
            say(out, one.check, "bold")
            last = one.check
        say(out, f"{'FAILED' if one.wrong else 'ok'}  {one.case}", "red" if one.wrong else "", indent=2)
        for sentence in one.wrong:
            say(out, sentence, indent=10)
    for id_, words in trial.lacking.items():
        say(out, f"{id_} has no case that expects {' and none that expects '.join(words)}", "yellow")
    say(out, f"{counted(len(trial.tried), 'case')}, {len(trial.failed)} failed")
