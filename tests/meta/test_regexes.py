"""Expressions are compiled when they are used, so that one with a mistake would be found by a user."""

from __future__ import annotations

import importlib
import pkgutil

import pilotage.checks
import pilotage.cli.check
from pilotage.core.regex import regex

LATE = type(regex(""))


def test_every_expression_compiles() -> None:
    found = [
        value
        for package in (pilotage.checks, pilotage.cli.check)
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        for value in vars(importlib.import_module(module.name)).values()
        if isinstance(value, LATE)
    ]
    assert len(found) > 150
    assert all(one.pattern for one in found)
