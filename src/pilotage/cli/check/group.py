"""The group `pilotage check`: its first word is a command of its own, or else a path to check."""

from __future__ import annotations

import glob
import os

import click

from pilotage.cli.lazy import LazyGroup
from pilotage.core.text import nearest

_AT = "pilotage.cli.check"
DEFAULT = "files"
COMMANDS = {
    DEFAULT: (f"{_AT}.files:files", "Check files and folders (what no command names)."),
    "cluster": (f"{_AT}.cluster:cluster", "Check a live cluster, with get and list only."),
    "role": (f"{_AT}.cluster:role", "Print the ClusterRole under which the checks can look."),
    "list": (f"{_AT}.knowledge:list_", "The checks, with the incidents behind them."),
    "explain": (f"{_AT}.knowledge:explain", "The page of a check."),
    "coverage": (f"{_AT}.knowledge:coverage", "Which incidents of the library have a check."),
    "test": (f"{_AT}.test:test", "Try checks of your own on their cases."),
    "export": (f"{_AT}.export:export", "Write checks as admission policies of Kubernetes."),
}


class _PathOrCommand(LazyGroup):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click's, with the default command put in where none is named."""
        own_help = args and args[0] in ctx.help_option_names
        if args and args[0] not in self.commands_at and not own_help:
            self._refuse_misspelt(ctx, args[0])
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)

    def _refuse_misspelt(self, ctx: click.Context, word: str) -> None:
        if word.startswith("-") or glob.has_magic(word) or os.path.lexists(word):
            return
        if near := nearest(word, self.commands_at):
            ctx.fail(
                f"'{word}' is neither a command nor a path. Did you mean {' or '.join(map(repr, near))}?"
            )


@click.group(cls=_PathOrCommand, commands_at=COMMANDS)
def check() -> None:
    """Look for what has taken others down: manifests and proxy configuration, each finding with its incident.

    `pilotage check PATH…` is short for `pilotage check files PATH…`. A folder that is called like a command
    is written `./list`.

    \b
    Examples:
      pilotage check .
      pilotage check deploy/ charts/rendered.yaml --output sarif
      kubectl get deploy,svc,pdb -o yaml | pilotage check -
      pilotage check cluster --context staging
      pilotage check list
      pilotage check explain cron-policy-misplaced
    """
