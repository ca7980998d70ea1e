"""`pilotage check export`: checks as admission policies of Kubernetes."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from typing import get_args

import click
import msgspec

from pilotage.checks.model import Check
from pilotage.checks.own.checks import check_of
from pilotage.checks.own.evaluation import Evaluator
from pilotage.checks.own.reading import read_files
from pilotage.checks.policies.from_own import policy_of
from pilotage.checks.policies.policy import NotExpressible, Policy
from pilotage.checks.policies.shipped import shipped_policies, why_not
from pilotage.checks.policies.writing import Action, Binding, Telling, as_yaml, objects_of
from pilotage.checks.registry import all_checks
from pilotage.checks.reports.incidents import Incidents, cited_lines
from pilotage.cli.check.incidents import incidents_of
from pilotage.cli.check.own import Ground, ground_options, house_rules
from pilotage.cli.output import console, say, say_json
from pilotage.core.counting import counted
from pilotage.core.errors import NotFound, UserError
from pilotage.core.text import did_you_mean


class _Candidate(msgspec.Struct, frozen=True):
    """A check that is wanted as a policy.

    Attributes:
        check: the check.
        policy: its policy; None where it has none.
        why_not: why it has none.
    """

    check: Check
    policy: Policy | None
    why_not: str = ""


@click.command()
@click.argument("checks", nargs=-1, metavar="[CHECK]...")
@click.option(
    "--format",
    expose_value=False,
    type=click.Choice(["vap"]),
    default="vap",
    show_default=True,
    help="ValidatingAdmissionPolicy with its binding, for Kubernetes 1.30 and later.",
)
@click.option(
    "--action",
    type=click.Choice(get_args(Action)),
    default="Warn",
    show_default=True,
    help="What happens to an object that has the gap.",
)
@click.option(
    "--except-namespace",
    "namespaces",
    multiple=True,
    default=("kube-system",),
    show_default=True,
    metavar="NAME",
    help="Where the policies do not apply; repeatable, empty for nowhere.",
)
@ground_options
@click.option(
    "--list", "only_list", is_flag=True, help="Say which checks can be policies, and why others cannot."
)
@click.option(
    "-o",
    "--output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Form of --list.",
)
def export(
    checks: tuple[str, ...],
    action: Action,
    namespaces: tuple[str, ...],
    ground: Ground,
    only_list: bool,
    output: str,
) -> None:
    """Write checks that look at one object only as admission policies, to be applied with kubectl.

    CHECK is an id or a glob; without any all that can be policies are written, and with --checks your own.
    An object that had the gap before can still be updated. Nothing is sent to a cluster.

    \b
    Examples:
      pilotage check export --list
      pilotage check export webhook-timeout 'cron-*' --action Deny > policies.yaml
      pilotage check export --checks our-checks.yaml | kubectl apply -f -
    """
    found = _candidates(ground)
    wanted = _wanted(found, checks, own_only=bool(ground.files) and not checks)
    if only_list:
        _list(wanted, output)
        return
    written = [one for one in wanted if one.policy is not None]
    _complain(wanted, named=bool(checks) or bool(ground.files))
    if not written:
        raise UserError("none of these checks can be a policy", hint="See: pilotage check export --list.")
    binding = Binding(action, tuple(one for one in namespaces if one))
    click.echo(_text(written, binding), nl=False)


def _candidates(ground: Ground) -> dict[str, _Candidate]:
    shipped = shipped_policies()
    found = {id_: _Candidate(one, shipped.get(id_), why_not(one)) for id_, one in all_checks().items()}
    own = (*house_rules(ground).own, *ground.files)
    for one in read_files(own, all_checks()):
        check = check_of(one, Evaluator())
        try:
            found[check.id] = _Candidate(check, policy_of(one))
        except NotExpressible as error:
            found[check.id] = _Candidate(check, None, str(error))
    return found


def _wanted(found: Mapping[str, _Candidate], words: Sequence[str], *, own_only: bool) -> list[_Candidate]:
    if not words:
        shipped = all_checks()
        return [one for id_, one in found.items() if not own_only or id_ not in shipped]
    named: dict[str, _Candidate] = {}
    for word in words:
        hits = {id_: one for id_, one in found.items() if fnmatch.fnmatchcase(id_, word)}
        if not hits:
            raise NotFound(
                f"'{word}' names no check", hint=did_you_mean(word, found) or "See: pilotage check list."
            )
        named |= hits
    return list(named.values())


def _complain(wanted: Sequence[_Candidate], *, named: bool) -> None:
    """Says what was asked for and is not written; on standard error, since the policies go to the other."""
    for one in wanted if named else ():
        if one.policy is None:
            click.echo(f"pilotage: {one.check.id} is not written: {one.why_not}", err=True)


def _text(written: Sequence[_Candidate], binding: Binding) -> str:
    incidents = incidents_of(one.check for one in written)
    objects = [
        made
        for one in written
        if one.policy is not None
        for made in objects_of(one.policy, telling_of(one.check, incidents), binding)
    ]
    return as_yaml(objects, head=f"# Written by: pilotage check export --action {binding.action}\n")


def telling_of(check: Check, incidents: Incidents) -> Telling:
    """What a policy tells of its check."""
    lines = tuple(cited_lines(check.cited, incidents))
    return Telling(check.title, str(check.severity), check.fix, lines)


def _list(wanted: Sequence[_Candidate], output: str) -> None:
    if output == "json":
        say_json(
            [
                {
                    "check": one.check.id,
                    "policy": one.policy is not None,
                    "not_seen": one.policy.unseen if one.policy is not None else "",
                    "why_not": one.why_not,
                }
                for one in wanted
            ]
        )
        return
    out = console()
    say(out, "Can be policies", "bold")
    for one in wanted:
        if one.policy is not None:
            say(out, f"{one.check.id}: {one.check.title}", indent=2)
            if one.policy.unseen:
                say(out, f"not seen: {one.policy.unseen}", "dim", indent=4)
    say(out)
    say(out, "Cannot", "bold")
    for one in wanted:
        if one.policy is None:
            say(out, f"{one.check.id}: {one.why_not}", indent=2)
    number = sum(one.policy is not None for one in wanted)
    say(out)
    say(out, f"{number} of {counted(len(wanted), 'check')}")
