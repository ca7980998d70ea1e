"""`pilotage mcp`."""

from __future__ import annotations

import logging
import sys
from dataclasses import replace

import click
import structlog

from pilotage.cli.library.options import make_app
from pilotage.web.mcp.server import serve_stdio


@click.command()
@click.option(
    "--store",
    "store_url",
    metavar="URL",
    help="Store: a path, sqlite:///PATH or a postgresql:// address.",
)
@click.option(
    "--lang",
    type=click.Choice(["en", "ko"]),
    help="Language of answers that ask for none; default: that of the locale.",
)
@click.option("--include-private", is_flag=True, default=None, help="Show private records to the agent too.")
@click.option(
    "--allow-cluster",
    is_flag=True,
    help="Let the agent have the cluster of your kubeconfig checked; only get and list are sent.",
)
@click.option(
    "--checks",
    "own_checks",
    multiple=True,
    metavar="FILE",
    help="File, folder or glob of checks of your own, offered and run beside the others; repeatable.",
)
def mcp(
    store_url: str | None,
    lang: str | None,
    include_private: bool | None,
    allow_cluster: bool,
    own_checks: tuple[str, ...],
) -> None:
    """Serve the library to a coding agent over standard input and output (MCP).

    An agent starts this itself; docs/howto/connect-an-agent.md has the set-up to copy. It ends when its
    standard input does. Standard output carries the protocol only, messages go to standard error. `pilotage
    serve` offers the same over HTTP at /mcp.

    \b
    Examples:
      pilotage mcp
      pilotage mcp --store sqlite:///srv/library.db --lang ko
      pilotage mcp --allow-cluster --checks team-checks/
      claude mcp add pilotage -- pilotage mcp
    """
    _log_to_stderr()
    app = make_app(store_url, "text", lang, include_private=include_private)
    with app.catalogue(semantic=True) as catalogue:
        web = replace(
            app.settings.web,
            # Whoever asks over standard input is who started this, and might as well have a file checked.
            accept_own_checks=True,
            allow_cluster=allow_cluster or app.settings.web.allow_cluster,
            own_checks=own_checks or app.settings.web.own_checks,
        )
        serve_stdio(replace(app.settings, lang=app.lang, web=web), catalogue)


def _log_to_stderr() -> None:
    # Before the SDK sets logging up its own way.
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s"
    )
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
