"""Settings: flags beat `PILOTAGE_A__B` variables, these beat `pilotage.toml`, these beat the defaults.

Read once by `cli` and passed down. An unknown key is an error, in the file as in the environment.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from pilotage.core.errors import ConfigError
from pilotage.core.text import did_you_mean

PREFIX = "PILOTAGE_"
FILE = "pilotage.toml"
NOT_SETTINGS = frozenset({"PILOTAGE_REQUIRE_REAL"})
"""Variables of ours that are no settings: read by the tests only."""
TABLES_OF_OTHERS = frozenset({"checks"})
"""Tables of the file that are no settings: `[checks]` is what a team has decided about findings."""


def default_store() -> str:
    """The address of the store when none is given: one SQLite file in the user's data folder."""
    return "sqlite:///" + str(Path(platformdirs.user_data_dir("pilotage", appauthor=False)) / "library.db")


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class StoreSettings(_Section):
    """Where the records are kept."""

    url: str = Field(default_factory=default_store)
    """`sqlite:///PATH` (or just a path) for one file, `postgresql://…` for a server."""

    busy_seconds: float = Field(default=60.0, gt=0)
    """How long a writer waits for another one before it gives up, in seconds."""


class LibrarySettings(_Section):
    """How the library answers."""

    include_private: bool = False
    """Whether answers and exports show private records."""

    semantic: bool = True
    """Whether search uses vectors when the extra `[semantic]` is installed."""

    redact_words: tuple[str, ...] = ()
    """Words (names of people, customers, projects) that are blacked out in every private import."""


class WebSettings(_Section):
    """How the pages, the REST API and MCP are served."""

    host: str = "127.0.0.1"
    """Address to listen on. Behind a name, set `allowed_hosts` as well."""

    port: int = Field(default=8000, ge=0, le=65535)
    """Port to listen on; 0 takes a free one."""

    workers: int = Field(default=1, ge=1, le=64)
    """Number of processes that answer."""

    token: SecretStr = SecretStr("")
    """Requests with this token (`Authorization: Bearer …`) also see private records; empty: none do."""

    allowed_hosts: tuple[str, ...] = ()
    """Host names, besides loopback, under which people reach the server; MCP refuses others."""

    base_url: str = ""
    """Public address of the pages (`https://incidents.example.com`); empty: that of the request."""

    allow_cluster: bool = False
    """Whether agents may have the cluster of this machine's kubeconfig checked (MCP, reading only)."""


class Settings(BaseSettings):
    """All settings of Pilotage."""

    model_config = SettingsConfigDict(
        frozen=True,
        extra="forbid",
        env_prefix=PREFIX,
        env_nested_delimiter="__",
        toml_file=FILE,
        use_attribute_docstrings=True,
    )

    store: StoreSettings = StoreSettings()
    """Where the records are kept."""

    library: LibrarySettings = LibrarySettings()
    """How the library answers."""

    web: WebSettings = WebSettings()
    """How the pages, the REST API and MCP are served."""

    lang: str = Field(default="", pattern="^(en|ko)?$")
    """Language of answers, `en` or `ko`; empty means that of the locale."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags, then the environment, then the file."""
        return init_settings, env_settings, _File(settings_cls)


class _File(TomlConfigSettingsSource):
    def __call__(self) -> dict[str, Any]:
        """What the file says, without the tables that other parts read for themselves."""
        return {key: value for key, value in super().__call__().items() if key not in TABLES_OF_OTHERS}


def load(overrides: dict[str, Any]) -> Settings:
    """The settings in force.

    Args:
        overrides: what flags say, nested like the settings.

    Raises:
        ConfigError: a key or variable is unknown or its value is wrong; the message says where it stands.
    """
    _refuse_unknown_variables()
    try:
        return Settings(**overrides)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise ConfigError(
            f"setting '{key}': {first['msg']}",
            hint=f"Set in {FILE}, by {PREFIX}{key.replace('.', '__').upper()}, or by a flag. "
            + did_you_mean(key.rpartition(".")[2], _keys()),
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{FILE}: {error}", hint="Mend the file, or move it away.") from error


def _keys() -> list[str]:
    names = list(Settings.model_fields)
    for field in Settings.model_fields.values():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            names += field.annotation.model_fields
    return names


def _refuse_unknown_variables() -> None:
    # pydantic-settings ignores a misspelt top-level variable in silence.
    sections = {name.upper() for name in Settings.model_fields}
    for variable in os.environ:
        if not variable.startswith(PREFIX) or variable in NOT_SETTINGS:
            continue
        section = variable.removeprefix(PREFIX).partition("__")[0].upper()
        if section not in sections and not section.startswith("_"):
            raise ConfigError(
                f"environment variable {variable} is not a setting",
                hint=did_you_mean(section, sorted(sections)) or "See docs/reference/settings.md.",
            )
