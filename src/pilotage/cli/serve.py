"""`pilotage serve`."""

from __future__ import annotations

from typing import Any

import click

from pilotage.core.settings import Settings, load
from pilotage.web.logs import configure_logs
from pilotage.web.serving import Listening
from pilotage.web.serving import serve as run_server


@click.command()
@click.option(
    "--host", metavar="ADDRESS", help="Address to listen on; default: 127.0.0.1, this machine only."
)
@click.option("--port", type=click.IntRange(0, 65535), help="Port; default: 8000; 0 takes a free one.")
@click.option(
    "--store",
    "store_url",
    metavar="URL",
    help="Store: a path, sqlite:///PATH or a postgresql:// address.",
)
@click.option("--workers", type=click.IntRange(1, 64), help="Number of processes; default: 1.")
@click.option("--no-semantic", is_flag=True, help="Search by words alone; starts faster, needs less memory.")
@click.option(
    "--allow-cluster",
    is_flag=True,
    help="Let agents have the cluster of this machine's kubeconfig checked; only get and list are sent.",
)
@click.option(
    "--checks",
    "own_checks",
    multiple=True,
    metavar="FILE",
    help="File, folder or glob of checks of your own, offered and run beside the others; repeatable.",
)
@click.option(
    "--accept-own-checks",
    is_flag=True,
    help="Run checks that a request brings along; each may take seconds and half a gigabyte.",
)
def serve(
    host: str | None,
    port: int | None,
    store_url: str | None,
    workers: int | None,
    no_semantic: bool,
    allow_cluster: bool,
    own_checks: tuple[str, ...],
    accept_own_checks: bool,
) -> None:
    """Serve the pages, the REST API and MCP on one port.

    The store is only read; imports may go on beside. SIGTERM or Ctrl-C lets open requests end. To show
    private records to those who bear a token, set PILOTAGE_WEB__TOKEN; docs/howto/serve.md has the rest.

    \b
    Examples:
      pilotage serve
      pilotage serve --port 0 --no-semantic
      pilotage serve --checks team-checks/
      pilotage serve --host 0.0.0.0 --workers 4 --store postgresql://db.example.com/pilotage
    """
    web = {
        "host": host,
        "port": port,
        "workers": workers,
        "allow_cluster": allow_cluster or None,
        "own_checks": own_checks or None,
        "accept_own_checks": accept_own_checks or None,
    }
    settings = load(_overrides(web, store_url, no_semantic))
    run_server(settings, lambda listening: _say(listening, settings), configure_logs)


def _overrides(web: dict[str, Any], store_url: str | None, no_semantic: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"web": {key: value for key, value in web.items() if value is not None}}
    if store_url is not None:
        found["store"] = {"url": store_url}
    if no_semantic:
        found["library"] = {"semantic": False}
    return {section: values for section, values in found.items() if values}


def _say(listening: Listening, settings: Settings) -> None:
    at = listening.address
    for name, path in (("Pages", "/"), ("REST", "/api/v1"), ("MCP", "/mcp")):
        click.echo(f"{name:<6} {at}{path}", err=True)
    if listening.open_to_others and not (settings.web.allowed_hosts or settings.web.base_url):
        click.echo(
            "Other machines reach this server, but MCP answers only the names in PILOTAGE_WEB__ALLOWED_HOSTS"
            " (a JSON list), which is empty.",
            err=True,
        )
