"""`pilotage check cluster` and `pilotage check role`."""

from __future__ import annotations

import gc
from typing import Any

import click

from pilotage.checks.readers.kinds import known_kinds
from pilotage.checks.readers.live import ClusterQuestion, read_cluster
from pilotage.checks.readers.role import account, as_yaml, cluster_role
from pilotage.checks.runner import RunSettings, chosen
from pilotage.cli.check.own import Ground, ground_options, known_checks
from pilotage.cli.check.running import Wishes, finish, run_options, settings_of
from pilotage.cli.library.progress import named_bar
from pilotage.core.errors import UnknownTerm
from pilotage.core.text import did_you_mean


@click.command()
@click.option("--context", metavar="NAME", help="Context of the kubeconfig; default: the current one.")
@click.option("--kubeconfig", metavar="FILE", help="Default: KUBECONFIG, ~/.kube/config, the pod's account.")
@click.option(
    "-n", "--namespace", "namespaces", multiple=True, metavar="NAME", help="Only this one; repeatable."
)
@click.option(
    "--server-timeout",
    type=click.FloatRange(min=0.1, max=3600),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="How long the API server may be silent.",
)
@run_options
def cluster(
    context: str | None,
    kubeconfig: str | None,
    namespaces: tuple[str, ...],
    server_timeout: float,
    **wishes: Any,
) -> int:
    """Check a live cluster. Nothing is sent to it but get and list.

    Only the kinds that the chosen checks need are read, page by page. What the permissions do not allow
    turns the checks that need it to "unknown". `pilotage check role` prints the ClusterRole that suffices.

    Exit codes: 0 nothing as severe as --fail-on, 1 findings, 2 wrong use or an unusable kubeconfig, 3 the
    server does not answer, or something that was asked for could not be read.

    \b
    Examples:
      pilotage check cluster
      pilotage check cluster --context staging --namespace shop --namespace pay
      pilotage check cluster --select webhooks --output json
      pilotage check cluster --write-baseline .pilotage-cluster.json
    """
    # One run and the process ends: what the collector would look through again and again is all still in use.
    gc.disable()
    asked = Wishes(**wishes)
    settings = settings_of(asked)
    question = ClusterQuestion(kubeconfig, context, namespaces, server_timeout)
    with named_bar("Reading the cluster") as progress:
        checks = chosen(known_checks(asked.ground), settings).values()
        found = read_cluster(question, checks, progress)
    return finish(found.scene(), found.reading, settings, asked)


@click.command()
@click.option(
    "--select", multiple=True, metavar="CHECK", help="Only for this check, family or glob; repeatable."
)
@click.option(
    "--ignore", multiple=True, metavar="CHECK", help="Not for this check, family or glob; repeatable."
)
@click.option("--without", multiple=True, metavar="KIND", help="Do not permit this kind; repeatable.")
@click.option(
    "--service-account",
    "service_account",
    metavar="NAMESPACE/NAME",
    help="Also print a service account, and the binding that gives it the role.",
)
@ground_options
def role(
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    without: tuple[str, ...],
    service_account: str | None,
    ground: Ground,
) -> None:
    """Print the smallest ClusterRole under which the checks can look: get and list, nothing else.

    \b
    Examples:
      pilotage check role
      pilotage check role --select webhooks --select cronjobs
      pilotage check role --without Secret --service-account audit/pilotage | kubectl apply -f -
    """
    known = known_kinds()
    for kind in without:
        if kind not in known:
            raise UnknownTerm(f"'{kind}' is no kind that checks ask for", hint=did_you_mean(kind, known))
    checks = chosen(known_checks(ground), RunSettings(select=select, ignore=ignore)).values()
    documents = [cluster_role(checks, without=without)]
    if service_account is not None:
        namespace, slash, name = service_account.partition("/")
        if not slash or not namespace or not name:
            raise click.UsageError(f"--service-account {service_account}: write NAMESPACE/NAME")
        documents += account(namespace, name)
    click.echo(as_yaml(documents), nl=False)
