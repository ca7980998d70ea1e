"""Settings: flags beat `PILOTAGE_A__B` variables, these beat `pilotage.toml`, these beat the defaults.

Read once by `cli` and passed down. An unknown key is an error, in the file as in the environment. Plain data
classes: a library that validates settings would take longer to import than a command takes to answer.
"""

from __future__ import annotations

import importlib
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import platformdirs

from pilotage.core.errors import ConfigError
from pilotage.core.paths import is_file, read_bytes
from pilotage.core.text import did_you_mean, kind_of, nearest

PREFIX = "PILOTAGE_"
FILE = "pilotage.toml"
NOT_SETTINGS = frozenset({"PILOTAGE_REQUIRE_REAL"})
"""Variables of ours that are no settings: read by the tests only."""
TABLES_OF_OTHERS = frozenset({"checks"})
"""Tables of the file that are no settings: `[checks]` holds the house rules of a team."""
_DAY = 86_400
"""SQLite counts the milliseconds in 31 bits, and with more than they hold would not wait at all."""


def default_store() -> str:
    """The address of the store when none is given: one SQLite file in the user's data folder."""
    return "sqlite:///" + str(Path(platformdirs.user_data_dir("pilotage", appauthor=False)) / "library.db")


def _setting(default: Any, meaning: str, **limits: Any) -> Any:
    """A setting with its meaning; `least`, `above`, `most` and `among` limit its value."""
    return field(default=default, metadata={"meaning": meaning, **limits})


@dataclass(frozen=True)
class StoreSettings:
    """Where the records are kept."""

    url: str = field(
        default_factory=default_store,
        metadata={
            "meaning": "`sqlite:///PATH` (or just a path) for one file, `postgresql://…` for a server."
        },
    )
    busy_seconds: float = _setting(
        60.0, "How long a writer waits for another one before it gives up, in seconds.", above=0, most=_DAY
    )


@dataclass(frozen=True)
class LibrarySettings:
    """How the library answers."""

    include_private: bool = _setting(False, "Whether answers and exports show private records.")
    semantic: bool = _setting(True, "Whether search uses vectors when the extra `[semantic]` is installed.")
    redact_words: tuple[str, ...] = _setting(
        (),
        "Words (names of people, customers, projects) that are blacked out in every private import.",
    )


@dataclass(frozen=True)
class WebSettings:
    """How the pages, the REST API and MCP are served."""

    host: str = _setting("127.0.0.1", "Address to listen on. Behind a name, set `allowed_hosts` as well.")
    port: int = _setting(8000, "Port to listen on; 0 takes a free one.", least=0, most=65535)
    workers: int = _setting(1, "Number of processes that answer.", least=1, most=64)
    token: str = field(
        default="",
        repr=False,
        metadata={
            "meaning": "Requests with this token (`Authorization: Bearer …`) also see private records; empty:"
            " none do."
        },
    )
    allowed_hosts: tuple[str, ...] = _setting(
        (), "Host names, besides loopback, under which people reach the server; MCP refuses others."
    )
    base_url: str = _setting(
        "", "Public address of the pages (`https://incidents.example.com`); empty: that of the request."
    )
    allow_cluster: bool = _setting(
        False, "Whether agents may have the cluster of this machine's kubeconfig checked (MCP, reading only)."
    )
    own_checks: tuple[str, ...] = _setting(
        (), "Files, folders and globs of checks of your own, offered and run beside those that are shipped."
    )
    accept_own_checks: bool = _setting(
        False, "Whether a request may bring checks of its own along, to be run once."
    )


@dataclass(frozen=True)
class Settings:
    """All settings of Pilotage."""

    store: StoreSettings = field(default_factory=StoreSettings)
    library: LibrarySettings = field(default_factory=LibrarySettings)
    web: WebSettings = field(default_factory=WebSettings)
    lang: str = _setting(
        "", "Language of answers, `en` or `ko`; empty means that of the locale.", among=("", "en", "ko")
    )


SECTIONS: dict[str, type] = {"store": StoreSettings, "library": LibrarySettings, "web": WebSettings}
"""Name of each table of the file and the class that holds it."""


@dataclass(frozen=True)
class Setting:
    """One setting.

    Attributes:
        key: its name with that of its section, as in `store.url`.
        kind: its type, as written.
        default: what holds when nothing is said.
        meaning: what it does.
        limits: what its value must keep to.
    """

    key: str
    kind: str
    default: Any
    meaning: str
    limits: Mapping[str, Any]

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return PREFIX + self.key.replace(".", "__").upper()


def known_settings() -> dict[str, Setting]:
    """Every setting by its key."""
    plain = Settings()
    found = [_described(f"{name}.", one, getattr(plain, name)) for name, one in SECTIONS.items()]
    return {one.key: one for group in (*found, _described("", Settings, plain)) for one in group}


def _described(prefix: str, section: type, plain: Any) -> list[Setting]:
    return [
        Setting(
            prefix + one.name, str(one.type), getattr(plain, one.name), one.metadata["meaning"], one.metadata
        )
        for one in fields(section)
        if one.metadata
    ]


def load(overrides: Mapping[str, Any]) -> Settings:
    """The settings in force.

    Args:
        overrides: what flags say, nested like the settings.

    Raises:
        ConfigError: a key or variable is unknown or its value is wrong; the message says where it stands.
    """
    known = known_settings()
    values: dict[str, Any] = {}
    for key, where, value in (*_of_file(), *_of_environment(), *_of_table(overrides, "flag")):
        setting = known.get(key)
        if setting is None:
            names = [name.rpartition(".")[2] for name in known]
            raise ConfigError(
                f"{where}: there is no setting '{key}'",
                hint=did_you_mean(key.rpartition(".")[2], names) or "See docs/reference/settings.md.",
            )
        values[key] = _checked(setting, value, where)
    sections = {
        name: section(
            **{key.partition(".")[2]: one for key, one in values.items() if key.startswith(f"{name}.")}
        )
        for name, section in SECTIONS.items()
    }
    return Settings(**sections, **{key: one for key, one in values.items() if "." not in key})


_Said = tuple[str, str, Any]
"""(key, where it stands, value)."""


def _of_table(table: Mapping[str, Any], where: str) -> Iterator[_Said]:
    for name, value in table.items():
        if name not in SECTIONS:
            yield name, where, value
        elif isinstance(value, Mapping):
            yield from ((f"{name}.{key}", where, inner) for key, inner in value.items())
        else:
            raise ConfigError(f"{where}: '{name}' is a table of settings, not a value", hint=_example(name))


def _example(section: str) -> str:
    key = next(key for key in known_settings() if key.startswith(f"{section}."))
    return f"Write a table [{section}] in {FILE}, or set {PREFIX}{key.replace('.', '__').upper()}."


def _of_file() -> Iterator[_Said]:
    path = Path(FILE)
    if not is_file(path):
        return
    # Most have no such file, and its reader takes as long to import as the rest of this module.
    tomllib = importlib.import_module("tomllib")
    try:
        table = tomllib.loads(read_bytes(path).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{FILE}: {error}", hint="Mend the file, or move it away.") from error
    except OSError as error:
        raise ConfigError(
            f"{FILE} cannot be read: {error.strerror}", hint="Check its permissions, or move it away."
        ) from error
    yield from _of_table({key: value for key, value in table.items() if key not in TABLES_OF_OTHERS}, FILE)


def _of_environment() -> Iterator[_Said]:
    # A variable of a whole section (JSON) comes before those of its single keys, which beat it.
    for variable in sorted(os.environ):
        if not variable.startswith(PREFIX) or variable in NOT_SETTINGS:
            continue
        section, _, key = variable.removeprefix(PREFIX).lower().partition("__")
        if section.startswith("_"):
            continue
        if section not in {one.name for one in fields(Settings)}:
            raise ConfigError(
                f"environment variable {variable} is not a setting",
                hint=_near(variable),
            )
        value = os.environ[variable]
        where = f"environment variable {variable}"
        if section in SECTIONS and not key:
            yield from _of_table({section: _table(variable, value)}, where)
        else:
            yield f"{section}.{key}" if key else section, where, value


def _table(variable: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        keys = [one.variable for one in known_settings().values() if one.variable.startswith(f"{variable}__")]
        raise ConfigError(
            f"environment variable {variable} is no JSON",
            hint=f"Write its keys as JSON, or each in a variable: {', '.join(keys)}.",
        ) from error


def _near(variable: str) -> str:
    names = [setting.variable.removeprefix(PREFIX) for setting in known_settings().values()]
    near = nearest(variable.removeprefix(PREFIX), names)
    if not near:
        return "See docs/reference/settings.md."
    return f"Did you mean {' or '.join(PREFIX + name for name in near)}?"


def _checked(setting: Setting, value: Any, where: str) -> Any:
    """The value in its type, when it keeps to the limits of the setting.

    Raises:
        ConfigError: it does not.
    """
    try:
        found = _READERS[setting.kind](value)
        _limit(found, setting.limits)
    except (ValueError, TypeError) as error:
        raise ConfigError(
            f"{where}: setting '{setting.key}' {error}",
            hint=f"Set in {FILE}, by {setting.variable}, or by a flag.",
        ) from error
    return found


def _limit(value: Any, limits: Mapping[str, Any]) -> None:
    among = limits.get("among")
    if among is not None and value not in among:
        raise ValueError(f"is one of {', '.join(one for one in among if one)}, not {value!r}")
    if "above" in limits and not limits["above"] < value <= limits["most"]:
        raise ValueError(f"must be above {limits['above']} and at most {limits['most']}, not {value}")
    if "least" in limits and not limits["least"] <= value <= limits["most"]:
        raise ValueError(f"must be {limits['least']} to {limits['most']}, not {value}")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"must be a text, not {kind_of(value)}")
    return value


def _truth(value: Any) -> bool:
    words = {"true": True, "1": True, "yes": True, "on": True}
    words |= {"false": False, "0": False, "no": False, "off": False}
    found = value if isinstance(value, bool) else words.get(value.lower()) if isinstance(value, str) else None
    if found is None:
        raise ValueError(f"must be true or false, not {value!r}")
    return found


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise TypeError(f"must be a whole number, not {value!r}")
    try:
        return int(value)
    except ValueError as error:
        raise ValueError(f"must be a whole number, not {value!r}") from error


def _number(value: Any) -> float:
    try:
        found = math.nan if isinstance(value, bool) else float(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"must be a number, not {value!r}") from error
    if not math.isfinite(found):
        raise ValueError(f"must be a number, not {value!r}")
    return found


def _texts(value: Any) -> tuple[str, ...]:
    try:
        listed = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        listed = None
    if not isinstance(listed, list | tuple) or not all(isinstance(one, str) for one in listed):
        raise ValueError(f"must be a list of texts (as JSON in a variable), not {value!r}")
    return tuple(listed)


_READERS: dict[str, Callable[[Any], Any]] = {
    "str": _text,
    "bool": _truth,
    "int": _whole,
    "float": _number,
    "tuple[str, ...]": _texts,
}
