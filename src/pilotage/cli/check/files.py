"""`pilotage check files`, which is what `pilotage check PATH…` runs."""

from __future__ import annotations

import gc
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from pilotage.checks.baseline import Baseline
from pilotage.checks.model import Check
from pilotage.checks.readers.assemble import assemble
from pilotage.checks.readers.changes import read_before
from pilotage.checks.readers.charts import HelmChoices
from pilotage.checks.readers.definitions import read_definitions
from pilotage.checks.readers.files import Reach, read_paths
from pilotage.checks.runner import RunSettings, run
from pilotage.checks.scene import LATEST
from pilotage.cli.check.own import house_rules, known_checks
from pilotage.cli.check.running import Wishes, finish, run_options, settings_of, version_of
from pilotage.core.paths import real_path


@click.command(no_args_is_help=True)
@click.argument("paths", nargs=-1, required=True)
@run_options
@click.option("--kubernetes", "version", metavar="X.Y", help="Version that the manifests are meant for.")
@click.option(
    "--crds",
    multiple=True,
    type=click.Path(exists=True),
    help="Folder or file with CustomResourceDefinitions to check custom resources against; repeatable.",
)
@click.option(
    "--values",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False),
    help="Values for the Helm charts that are found; repeatable.",
)
@click.option(
    "--rendered",
    is_flag=True,
    help="All is rendered already: render no Helm charts and no Kustomize folders.",
)
@click.option(
    "--chart-defaults",
    is_flag=True,
    help="The files are charts rendered with their defaults: judge sizes mildly.",
)
@click.option("--exclude", multiple=True, metavar="GLOB", help="Pass over such files or folders; repeatable.")
@click.option(
    "--changed-since",
    metavar="REF",
    help="Only findings that came with the changes since this branch or commit was left.",
)
def files(
    paths: tuple[str, ...],
    version: str | None,
    crds: tuple[str, ...],
    values: tuple[str, ...],
    rendered: bool,
    chart_defaults: bool,
    exclude: tuple[str, ...],
    changed_since: str | None,
    **wishes: Any,
) -> int:
    """Check manifests: files, folders, globs; - is standard input. All of them together are one scene.

    Helm charts and Kustomize folders are rendered with the helm, kustomize or kubectl on the PATH.

    Exit codes: 0 nothing as severe as --fail-on, 1 findings, 2 wrong use, 3 something that was asked for
    could not be read.

    \b
    Examples:
      pilotage check .
      pilotage check deploy/ --select webhooks --fail-on medium
      pilotage check charts/shop --values prod.yaml
      pilotage check deploy/ --crds crds/ --select schema
      helm template shop ./chart | pilotage check - --output github
      pilotage check . --changed-since origin/main --output markdown --to comment.md
      pilotage check deploy/ --write-baseline .pilotage-baseline.json
      pilotage check deploy/ --baseline .pilotage-baseline.json --output sarif
    """
    # One run and the process ends: what the collector would look through again and again is all still in use.
    gc.disable()
    asked = Wishes(**wishes)
    house = house_rules(asked.ground)
    if rendered and values:
        raise click.UsageError("--values is for charts that are to be rendered; leave out --rendered")
    version = version or house.kubernetes or None
    target = version_of(version) if version is not None else LATEST
    reach = Reach(
        chart_defaults=chart_defaults,
        render=None
        if rendered
        else HelmChoices(tuple(os.path.abspath(one) for one in values), version or ""),  # noqa: PTH100 - links stay as they are named
        exclude=exclude or house.exclude,
        root=Path(os.path.relpath(Path() if exclude else house.folder)),
    )
    definitions = read_definitions(crds)
    before = None
    if changed_since is not None:
        settings_of(asked)
        checks = known_checks(asked.ground)
        before = _before(paths, changed_since, reach, checks, {"version": target, "definitions": definitions})
    reading = read_paths(paths, reach=reach, meanwhile=lambda: settings_of(asked))
    if values and not reading.charts:
        raise click.UsageError("--values: there is no Helm chart among the paths")
    settings = settings_of(asked, whole=_whole(paths, house.folder), before=before)
    return finish(assemble(reading, version=target, definitions=definitions), reading, settings, asked)


def _before(
    paths: tuple[str, ...], ref: str, reach: Reach, checks: Mapping[str, Check], aim: Mapping[str, Any]
) -> Baseline:
    """The findings that were there before the change; what was ignored then is not among them."""
    reading = read_before(paths, ref, lambda names: read_paths(names, reach=reach))
    report = run(checks, assemble(reading, **aim), RunSettings(), reading=reading)
    return Baseline.of(report.findings)


def _whole(paths: tuple[str, ...], folder: Path) -> bool:
    """Whether the paths cover the folder of the file with the rules."""
    full = folder.resolve()
    return any(path != "-" and full.is_relative_to(real_path(Path(path))) for path in paths)
