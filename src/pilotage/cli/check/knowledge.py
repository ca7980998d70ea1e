"""`pilotage check list`, `explain` and `coverage`: what the checks know."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import click
from rich.console import Console

from pilotage.checks.choosing import chosen
from pilotage.checks.coverage import reasons
from pilotage.checks.model import OWN, Check, Severity
from pilotage.checks.reports.incidents import Incident, cited_lines
from pilotage.cli.check.incidents import all_incidents, files_by_id, incidents_of
from pilotage.cli.check.own import Ground, ground_options, known_checks
from pilotage.cli.output import console, say, say_json
from pilotage.core.counting import counted
from pilotage.core.errors import NotFound
from pilotage.core.text import did_you_mean

_output = click.option(
    "-o",
    "--output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Form of the answer.",
)


@click.command("list")
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option("--family", "families", multiple=True, help="Only the checks of this family; repeatable.")
@click.option(
    "--severity",
    "severities",
    multiple=True,
    type=click.Choice([one.value for one in Severity]),
    help="Only the checks of this severity; repeatable.",
)
@click.option("--incident", metavar="ID", help="Only the checks that cite this incident.")
@ground_options
@_output
def list_(
    words: tuple[str, ...],
    families: tuple[str, ...],
    severities: tuple[str, ...],
    incident: str | None,
    ground: Ground,
    output: str,
) -> None:
    """List the checks with their severity and the incidents behind them.

    Each WORD must stand in the id, the title, the family, or what the check does.

    \b
    Examples:
      pilotage check list
      pilotage check list webhook --severity critical --severity high
      pilotage check list --family webhooks --output json
      pilotage check list --incident jetstack-2019-09-05-opa-webhook-gke-master-upgrade
      pilotage check list --family own --checks our-checks.yaml
    """
    known = known_checks(ground)
    if OWN in families and not any(one.own for one in known.values()):
        raise NotFound(
            "there are no checks of your own",
            hint="Name some: --checks FILE, or own = [...] in pilotage.toml.",
        )
    if incident is not None and incident not in files_by_id():
        raise NotFound(
            f"the library has no incident '{incident}'",
            hint=did_you_mean(incident, files_by_id()) or "See: pilotage check coverage.",
        )
    found = chosen(
        known.values(),
        severities=severities,
        families=families,
        incident=incident or "",
        words=" ".join(words),
    )
    incidents = incidents_of(found)
    if output == "json":
        say_json([check_value(one, incidents) for one in found])
        return
    out = console()
    last = ""
    for one in sorted(found, key=lambda one: (one.family, one.id)):
        if one.family != last:
            say(out, one.family, "bold")
            last = one.family
        say(out, f"{one.id} ({one.severity}): {one.title}", indent=2)
        none = "your own" if one.own else "documentation only"
        for line in cited_lines(one.cited, incidents) or [none]:
            say(out, line, "dim", indent=4)
    say(out, counted(len(found), "check") if found else "no check fits")


@click.command()
@click.argument("id")
@ground_options
@_output
def explain(id: str, ground: Ground, output: str) -> None:  # noqa: A002 - the word that the user sees
    """Show the page of a check: what it does, why it matters, the incidents, the fix.

    \b
    Examples:
      pilotage check explain cron-policy-misplaced
      pilotage check explain webhook-fail-catch-all --output json
    """
    checks = known_checks(ground)
    if id not in checks:
        raise NotFound(
            f"there is no check '{id}'", hint=did_you_mean(id, checks) or "See: pilotage check list."
        )
    one = checks[id]
    incidents = incidents_of([one])
    if output == "json":
        say_json({**check_value(one, incidents), "page": one.page})
        return
    out = console()
    say(out, f"{one.id} ({one.severity})", "bold")
    say(out, one.title)
    for section, text in one.page.items():
        say(out)
        say(out, section, "bold")
        for paragraph in text.split("\n\n"):
            lines = paragraph.splitlines() if paragraph.startswith("- ") else [" ".join(paragraph.split())]
            for line in lines:
                say(out, line, indent=2)
        if section == "Incidents":
            for line, cited in zip(cited_lines(one.cited, incidents), one.cited, strict=True):
                say(out, f"{line} [{cited.id}]", "magenta", indent=2)


def check_value(one: Check, incidents: Mapping[str, Incident]) -> dict[str, Any]:
    """A check as JSON values."""
    return {
        "id": one.id,
        "title": one.title,
        "family": one.family,
        "severity": str(one.severity),
        "about": list(one.about),
        "needs": list(one.needs),
        "documentation_only": one.documentation_only,
        "incidents": [
            {"id": cited.id, "title": incidents[cited.id].title, "exact": cited.exact}
            for cited in one.cited
            if cited.id in incidents
        ],
        "fix": one.fix,
        "references": one.references,
    }


@click.command()
@ground_options
@_output
def coverage(ground: Ground, output: str) -> None:
    """Show which incidents of the library have a check, and which have none and why.

    \b
    Examples:
      pilotage check coverage
      pilotage check coverage --output json
    """
    incidents = all_incidents()
    by_incident: dict[str, list[tuple[str, bool]]] = defaultdict(list)
    for one in known_checks(ground).values():
        for cited in one.cited:
            by_incident[cited.id].append((one.id, cited.exact))
    covered = {id_: by_incident[id_] for id_ in incidents if id_ in by_incident}
    without = [id_ for id_ in incidents if id_ not in by_incident]
    if output == "json":
        say_json(
            {
                "incidents": len(incidents),
                "covered": {
                    id_: [{"check": name, "exact": exact} for name, exact in found]
                    for id_, found in covered.items()
                },
                "without": without,
                "reasons": {
                    id_: {"kind": reasons()[id_].kind, "why": reasons()[id_].why}
                    for id_ in without
                    if id_ in reasons()
                },
            }
        )
        return
    out = console()
    for id_, found in covered.items():
        say(out, incidents[id_].line, "bold")
        for name, exact in found:
            say(out, name if exact else f"{name} (same mechanism)", indent=2)
    say(out)
    say(out, "Without a check", "bold")
    _say_without(out, [incidents[id_] for id_ in without])
    say(out)
    say(out, f"{len(covered)} of {counted(len(incidents), 'incident')} have a check")


def _say_without(out: Console, without: list[Incident]) -> None:
    by_kind: dict[str, list[Incident]] = defaultdict(list)
    for one in without:
        reason = reasons().get(one.id)
        by_kind[reason.kind_means if reason is not None else "No reason is known."].append(one)
    for means, found in by_kind.items():
        say(out)
        say(out, f"{means} ({len(found)})", "bold", indent=2)
        for one in found:
            say(out, one.line, indent=4)
            if one.id in reasons():
                say(out, reasons()[one.id].why, "dim", indent=6)
