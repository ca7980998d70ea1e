"""Tables of facts that are shipped beside the checks, a row with its source each."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from pilotage.checks.dialect import load


def read_table(name: str) -> Any:
    """What a table holds.

    Args:
        name: its file below `checks`, such as `data/components.yaml`.
    """
    return load(files("pilotage.checks").joinpath(name).read_text("utf-8"))
