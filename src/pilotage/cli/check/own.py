"""What a command goes by: the house rules in force, and the checks that there are with the user's own."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from pilotage.checks.model import Check
from pilotage.checks.rules.toml_file import HouseRules, find_file, read_house_rules

_KEPT = "pilotage.checks"

_CHECKS = click.option(
    "--checks",
    "own_files",
    multiple=True,
    type=click.Path(path_type=Path),
    help="File, folder or glob of checks of your own, beside those of pilotage.toml; repeatable.",
)
_CONFIG = click.option(
    "--config",
    type=click.Path(path_type=Path),
    help="The pilotage.toml to go by; default: the nearest one from here upwards.",
)
_NO_CONFIG = click.option("--no-config", is_flag=True, help="Go by no pilotage.toml.")


class Ground(msgspec.Struct, frozen=True):
    """Where a command learns of house rules and of users' checks.

    Attributes:
        files: files, folders and globs of users' checks.
        config: the `pilotage.toml` that was named.
        no_config: whether none is wanted.
    """

    files: tuple[Path, ...] = ()
    config: Path | None = None
    no_config: bool = False


def ground_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command `--checks`, `--config` and `--no-config`, as one argument `ground`."""

    @functools.wraps(command)
    def grounded(
        *args: Any, own_files: tuple[Path, ...], config: Path | None, no_config: bool, **kwargs: Any
    ) -> Any:
        return command(*args, ground=Ground(own_files, config, no_config), **kwargs)

    found: Callable[..., Any] = grounded
    found = config_options(found)
    return _CHECKS(found)


def config_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command `--config` and `--no-config`."""
    return _CONFIG(_NO_CONFIG(command))


def house_rules(ground: Ground) -> HouseRules:
    """What the `pilotage.toml` in force says about checks.

    Raises:
        NotFound, ConfigError, InvalidInput: see `read_house_rules`.
    """
    kept = _kept()
    if ground not in kept:
        kept[ground] = _read(ground)
    found: HouseRules = kept[ground]
    return found


def _kept() -> dict[object, Any]:
    """What was read for this command: it asks more than once."""
    kept: dict[object, Any] = click.get_current_context().meta.setdefault(_KEPT, {})
    return kept


def _read(ground: Ground) -> HouseRules:
    if ground.no_config and ground.config is not None:
        raise click.UsageError("--config and --no-config do not go together")
    path = None if ground.no_config else ground.config or find_file(Path.cwd())
    if path is None:
        return HouseRules()
    if ground.config is None:
        path = Path(os.path.relpath(path))
    return read_house_rules(path, lambda own: _with_own((*own, *ground.files)))


def known_checks(ground: Ground) -> Mapping[str, Check]:
    """All checks by id: those that are shipped, those of the house rules and of the files that were named.

    Users' checks can be asked until the command ends.

    Raises:
        NotFound, ConfigError, InvalidInput: see `read_house_rules`.
    """
    return _with_own((*house_rules(ground).own, *ground.files))


def _with_own(paths: Sequence[Path]) -> Mapping[str, Check]:
    from pilotage.checks.registry import all_checks  # noqa: PLC0415 - other processes read files meanwhile

    if not paths:
        return all_checks()
    from pilotage.checks.own.checks import own_checks  # noqa: PLC0415 - most runs have none and need not pay

    kept, asked = _kept(), tuple(paths)
    if asked not in kept:
        own = click.get_current_context().with_resource(own_checks(asked, all_checks()))
        kept[asked] = dict(sorted({**all_checks(), **own}.items()))
    found: Mapping[str, Check] = kept[asked]
    return found
