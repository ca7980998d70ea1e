"""One thing has one name on every door: REST, `.json`, pages, MCP, command line."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from fastapi import FastAPI

from pilotage.cli.main import pilotage
from pilotage.library.terms import FACETS
from pilotage.web.api.library import install_api
from pilotage.web.mcp.checks import CheckTools
from pilotage.web.mcp.descriptions import DESCRIPTIONS
from pilotage.web.mcp.finding import FindingTools
from pilotage.web.mcp.looking import LookingTools

TEMPLATES = Path(__file__).parents[2] / "src/pilotage/web/ui/templates"
THINGS = {
    "q": "words to look for",
    "facet": "facet=value that a record must bear, repeated for several",
    "limit": "most items of a part",
    "cursor": "where a list goes on: the `next` of the answer before",
    "since": "where the delta feed goes on; kept for weeks, and given at the end of the feed too",
    "lang": "language of the answer",
    "id": "of a record or a check",
    "revision": "number of an older state of a record",
    "number": "the same, in the address of a page",
    "fields": "keys of a record",
    "extra": "further blocks of an answer",
    "kind": "kind of vocabulary",
    "slug": "of a term",
    "used": "only terms that a record bears",
    "by": "two facets of a matrix",
    "format": "form of an export",
    "severity": "of a check, repeated for any of several",
    "family": "of checks, likewise",
    "incident": "that a check cites",
    "name": "what a text to check is called",
    "text": "what is to be checked",
    "own_checks": "checks that are sent along",
    "select": "only these checks",
    "ignore": "not these checks",
    "kubernetes": "version that manifests are meant for",
    "context": "of the kubeconfig",
    "namespace": "of a cluster, repeated for several",
    "sections": "of a record, for agents",
    "response_format": "how much of each item, for agents",
    "max_tokens": "budget of an answer, for agents",
    "remove": "a button: a term that goes from a search without an address",
    "clear": "a button: all of them go",
    **dict.fromkeys(FACETS, "short for facet=…"),
}
"""A parameter with a new name belongs here: if the thing has one already, use that."""


def of_rest() -> Iterator[str]:
    app = FastAPI()
    install_api(app)
    for path in app.openapi()["paths"].values():
        for operation in path.values():
            yield from (one["name"] for one in operation.get("parameters", []))


def of_mcp() -> Iterator[str]:
    tools = {**vars(FindingTools), **vars(LookingTools), **vars(CheckTools)}
    for name in DESCRIPTIONS:
        yield from (one for one in inspect.signature(tools[name]).parameters if one != "self")


def of_pages() -> Iterator[str]:
    for path in TEMPLATES.glob("*.html"):
        for tag in re.findall(r"<(?:input|textarea|button|select)[^>]*>", path.read_text("utf-8")):
            yield from re.findall(r' name="([a-z_]+)"', tag)


def commands(group: click.Group = pilotage) -> Iterator[click.Command]:
    context = click.Context(group)
    for name in group.list_commands(context):
        one = group.get_command(context, name)
        assert one is not None
        if isinstance(one, click.Group):
            yield from commands(one)
        else:
            yield one


def of_command_line() -> Iterator[str]:
    for command in commands():
        for one in command.params:
            # What stands without a name is named in the usage line alone.
            yield from (text[2:].replace("-", "_") for text in one.opts if text.startswith("--"))


@pytest.mark.parametrize("door", [of_rest, of_mcp, of_pages])
def test_every_parameter_is_one_of_the_things(door: object) -> None:
    assert callable(door)
    names = set(door())
    assert len(names) > 5
    assert not names - set(THINGS)


def test_the_command_line_calls_them_the_same() -> None:
    named = set(of_command_line())
    assert {"facet", "limit", "cursor", "lang", "extra", "severity", "family", "incident"} <= named
    assert {
        "select",
        "ignore",
        "kubernetes",
        "context",
        "namespace",
        "format",
        "by",
        "used",
        "revision",
    } <= named


def test_no_name_is_another_with_an_s() -> None:
    every = {*of_rest(), *of_mcp(), *of_pages(), *of_command_line()}
    twins = {name for name in every if {f"{name}s", f"{name[:-1]}ies"} & every and len(name) > 1}
    assert not twins
