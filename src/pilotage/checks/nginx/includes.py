"""Follows the `include` directives of a configuration among texts that somebody hands over."""

from __future__ import annotations

import fnmatch
import glob
import posixpath
from collections.abc import Callable, Sequence

import msgspec

from pilotage.checks.nginx.model import Directive, NginxConfig, only_tables
from pilotage.checks.nginx.parse import parse
from pilotage.checks.readers.reading import Problem, Trouble
from pilotage.checks.texts import Text

_Chain = tuple[tuple[str, str], ...]
Find = Callable[[str], Sequence[Text] | None]
"""Texts for a pattern relative to the main configuration's folder; None where none is at hand."""

_HOMES = (
    "/etc/nginx/",
    "/usr/local/nginx/conf/",
    "/usr/local/etc/nginx/",
    "/usr/local/openresty/nginx/conf/",
    "/opt/bitnami/nginx/conf/",
)
_MOST_FILES = 200
_DEEPEST = 10


def relative(pattern: str) -> str | None:
    """The pattern seen from the main configuration's folder; None for a path elsewhere.

    A folder that is to become `/etc/nginx` holds what is included from there.
    """
    if not pattern.startswith("/"):
        return pattern
    return next((pattern[len(home) :] for home in _HOMES if pattern.startswith(home)), None)


class _Following(msgspec.Struct):
    config: NginxConfig
    find: Find
    count: int = 0
    told: set[tuple[str, str]] = msgspec.field(default_factory=set)


def follow(config: NginxConfig, find: Find) -> list[Text]:
    """Puts what is included into the configuration, and its problems with it.

    Args:
        config: a configuration as `parse` gives it.
        find: the texts for a pattern.

    Returns:
        The texts that it includes.
    """
    state = _Following(config, find)
    _follow(config.root, (config.text.identity,), state)
    config.__dict__.pop("directives", None)
    used = {id(one.text): one.text for one in config.directives if one.text is not config.text}
    config.texts += used.values()
    return list(used.values())


def _follow(block: Directive, chain: _Chain, state: _Following) -> None:
    for one in list(_written(block)):
        if one.name == "include" and one.items is None:
            _include(one, chain, state)
            for brought in one.included or ():
                if brought.items is not None:
                    _follow(brought, (*chain, brought.text.identity), state)
        elif one.items is not None:
            _follow(one, chain, state)


def _written(block: Directive) -> Sequence[Directive]:
    return block.items or ()


def _include(one: Directive, chain: _Chain, state: _Following) -> None:
    pattern = relative(one.arg)
    found = None if pattern is None else state.find(posixpath.normpath(pattern))
    if found is None:
        # A part does not tell from which folder its includes are meant: that is the main file's.
        if state.config.complete and not only_tables(one.arg) and not glob.has_magic(one.arg):
            message = f"`include {one.arg}` names a file that is not here, so what it sets was not read"
            _tell(one, message, state, grave=not one.arg.startswith("/"))
        return
    brought: list[Directive] = []
    for text in found:
        if text.identity in chain or len(chain) > _DEEPEST:
            _tell(one, f"`include {one.arg}` comes back to a file that is being read", state, grave=True)
            continue
        state.count += 1
        if state.count > _MOST_FILES:
            _tell(one, f"more than {_MOST_FILES} includes: the others are not followed", state, grave=True)
            break
        brought += _read(text, one, (*chain, text.identity), state)
    one.included = brought


def _read(text: Text, one: Directive, chain: _Chain, state: _Following) -> list[Directive]:
    part = parse(text)
    if text.identity not in state.told:
        state.told.add(text.identity)
        state.config.problems += part.problems
    items = part.root.items or []
    for item in items:
        item.parent = one.parent
    _nested(items, chain, state)
    return items


def _nested(items: list[Directive], chain: _Chain, state: _Following) -> None:
    for item in items:
        if item.name == "include" and item.items is None:
            _include(item, chain, state)


def _tell(one: Directive, message: str, state: _Following, *, grave: bool) -> None:
    problem = Problem(one.text.place(one.line, one.column), message, Trouble.UNREADABLE, grave)
    if problem not in state.config.problems:
        state.config.problems.append(problem)


def matching(pattern: str, names: Sequence[str]) -> list[str]:
    """The names that a pattern with `*`, `?` and `[]` means; no sign stands for a slash."""
    depth = pattern.count("/")
    return sorted(name for name in names if name.count("/") == depth and fnmatch.fnmatchcase(name, pattern))
