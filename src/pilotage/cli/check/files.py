"""`pilotage check files`, which is what `pilotage check PATH…` runs."""

from __future__ import annotations

import gc
from typing import Any

import click

from pilotage.checks.readers.assemble import assemble
from pilotage.checks.readers.files import read_paths
from pilotage.checks.scene import LATEST
from pilotage.cli.check.running import Wishes, finish, run_options, settings_of, version_of


@click.command(no_args_is_help=True)
@click.argument("paths", nargs=-1, required=True)
@run_options
@click.option("--kubernetes", "version", metavar="X.Y", help="Version that the manifests are meant for.")
@click.option(
    "--chart-defaults",
    is_flag=True,
    help="The files are charts rendered with their defaults: judge sizes mildly.",
)
def files(paths: tuple[str, ...], version: str | None, chart_defaults: bool, **wishes: Any) -> int:
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
    asked = Wishes(**wishes)
    settings = settings_of(asked)
    target = version_of(version) if version is not None else LATEST
    reading = read_paths(paths, chart_defaults=chart_defaults)
    return finish(assemble(reading, version=target), reading, settings, asked)
