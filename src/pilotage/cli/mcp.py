"""`pilotage mcp`."""

from __future__ import annotations

import logging
import sys

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
def mcp(store_url: str | None, lang: str | None, include_private: bool | None, allow_cluster: bool) -> None:
    """Serve the library to a coding agent over standard input and output (MCP).

    An agent starts this itself; docs/howto/connect-an-agent.md has the set-up to copy. It ends when its
    standard input does. Standard output carries the protocol only, messages go to standard error. `pilotage
    serve` offers the same over HTTP at /mcp.

    \b
    Examples:
      pilotage mcp
      pilotage mcp --store sqlite:///srv/library.db --lang ko
      pilotage mcp --allow-cluster
      claude mcp add pilotage -- pilotage mcp
    """
    _log_to_stderr()
    app = make_app(store_url, "text", lang, include_private=include_private)
    with app.catalogue(semantic=True) as catalogue:
        web = app.settings.web
        if allow_cluster:
            web = web.model_copy(update={"allow_cluster": True})
        serve_stdio(app.settings.model_copy(update={"lang": app.lang, "web": web}), catalogue)


def _log_to_stderr() -> None:
    # Before the SDK sets logging up its own way.
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s"
    )
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
