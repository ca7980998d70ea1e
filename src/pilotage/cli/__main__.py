"""`python -m pilotage.cli` is `pilotage`."""

from pilotage.cli.main import run

run()
