"""The table `[checks]` of `pilotage.toml`: strict, so that a typing mistake cannot pass for a decision."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from pilotage.checks.model import Check, Severity
from pilotage.checks.objects import Place
from pilotage.checks.own.files import files_of
from pilotage.checks.rules.rule import Rule
from pilotage.checks.rules.toml_lines import line_of, lines_of_keys
from pilotage.checks.target import EXAMPLE, read_target
from pilotage.core.errors import ConfigError, NotFound
from pilotage.core.paths import is_absent, is_file, read_bytes
from pilotage.core.text import did_you_mean

FILE = "pilotage.toml"
NEVER = "never"
IGNORE = "ignore"
OTHER_TABLES = ("store", "library", "web", "lang")
"""What else stands in the file, of which the settings in `core` take care."""


class HouseRules(msgspec.Struct, frozen=True):
    """What a file says about checks.

    Attributes:
        path: the file; None where there is none.
        select: ids, globs or families to run; empty means all.
        ignore: likewise, what to leave out.
        exclude: patterns of paths that a walk through folders passes over.
        fail_on: least severity that ends in exit code 1; empty where the file does not say.
        kubernetes: target version; empty where the file does not say.
        severities: check, glob or family -> severity.
        rules: the rules.
        lang: language of reports; empty where the file does not say.
        own: files, folders and globs of the team's own checks.
    """

    path: Path | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    fail_on: str = ""
    kubernetes: str = ""
    severities: Mapping[str, Severity] | None = None
    rules: tuple[Rule, ...] = ()
    lang: str = ""
    own: tuple[Path, ...] = ()

    @property
    def folder(self) -> Path:
        """The folder to which paths in the file are relative."""
        return self.path.parent if self.path is not None else Path()


def find_file(start: Path) -> Path | None:
    """The nearest `pilotage.toml` from a folder upwards; a repository is not left."""
    for folder in (start, *start.parents):
        path = folder / FILE
        if is_file(path):
            return path
        if not is_absent(folder / ".git"):
            return None
    return None


def read_house_rules(path: Path, checks: Callable[[tuple[Path, ...]], Mapping[str, Check]]) -> HouseRules:
    """Reads the file.

    Args:
        path: the file.
        checks: gives all checks that there are, the team's own among them, to find words that name none.

    Raises:
        NotFound: there is no such file.
        ConfigError: it says something that cannot be meant; the message has the line.
        InvalidInput: a file of the team's own checks is wrong.
    """
    import tomllib  # noqa: PLC0415 - who has no such file need not pay for it

    try:
        text = read_bytes(path).decode("utf-8")
        document = tomllib.loads(text)
    except FileNotFoundError as error:
        raise NotFound(f"{path} does not exist", hint="Name a file with a table [checks].") from error
    except OSError as error:
        raise ConfigError(
            f"cannot read {path}: {error.strerror}", hint="Name a file that you may read."
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8", hint="TOML is always UTF-8.") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(
            f"{path}: {error}", hint="Mend the file, or use --config with another one."
        ) from error
    return _Reader(path, text, checks).house_rules(document)


class _Reader:
    def __init__(
        self, path: Path, text: str, checks: Callable[[tuple[Path, ...]], Mapping[str, Check]]
    ) -> None:
        self.path = path
        self.lines = lines_of_keys(text)
        self.known = checks
        self.checks: Mapping[str, Check] = {}

    def house_rules(self, document: Mapping[str, Any]) -> HouseRules:
        self.refuse_unknown(document, ("checks", *OTHER_TABLES), ())
        table = self.table(document.get("checks", {}), ("checks",))
        known = ("own", "select", "ignore", "exclude", "fail_on", "kubernetes", "severity", "rules")
        self.refuse_unknown(table, known, ("checks",))
        at = ("checks",)
        own = self.own(table, at)
        self.checks = self.known(own)
        return HouseRules(
            path=self.path,
            select=self.names(table, "select", at),
            ignore=self.names(table, "ignore", at),
            exclude=self.texts(table, "exclude", at),
            fail_on=self.one_of(table, "fail_on", at, (*Severity, NEVER)),
            kubernetes=self.kubernetes(table, at),
            severities=self.severities(table),
            rules=self.rules(table),
            lang=self.one_of(document, "lang", (), ("en", "ko")),
            own=own,
        )

    def wrong(self, path: tuple[str | int, ...], message: str, hint: str = "") -> ConfigError:
        line = line_of(self.lines, path)
        return ConfigError(f"{self.path}:{line}: {message}" if line else f"{self.path}: {message}", hint=hint)

    def refuse_unknown(
        self, table: Mapping[str, Any], known: tuple[str, ...], at: tuple[str | int, ...]
    ) -> None:
        for key in table:
            if key not in known:
                where = f" in [{'.'.join(str(part) for part in at)}]" if at else ""
                raise self.wrong((*at, key), f"unknown key '{key}'{where}", did_you_mean(key, known))

    def table(self, value: object, at: tuple[str | int, ...]) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise self.wrong(at, f"'{at[-1]}' must be a table")
        return value

    def text(self, table: Mapping[str, Any], key: str, at: tuple[str | int, ...]) -> str:
        value = table.get(key, "")
        if not isinstance(value, str):
            raise self.wrong((*at, key), f"'{key}' must be a text in quotes")
        return value

    def texts(self, table: Mapping[str, Any], key: str, at: tuple[str | int, ...]) -> tuple[str, ...]:
        value = table.get(key, [])
        if isinstance(value, str):
            value = [value]
        if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
            raise self.wrong((*at, key), f"'{key}' must be a list of texts in quotes")
        return tuple(value)

    def own(self, table: Mapping[str, Any], at: tuple[str | int, ...]) -> tuple[Path, ...]:
        paths = tuple(self.path.parent / one for one in self.texts(table, "own", at))
        for path in paths:
            try:
                files_of(path)
            except NotFound as error:
                raise self.wrong((*at, "own"), error.message, error.hint) from error
        return paths

    def kubernetes(self, table: Mapping[str, Any], at: tuple[str | int, ...]) -> str:
        value = self.text(table, "kubernetes", at)
        if value and read_target(value) is None:
            raise self.wrong(
                (*at, "kubernetes"), f"'{value}' is no version of Kubernetes", f"Write one such as {EXAMPLE}."
            )
        return value

    def one_of(
        self, table: Mapping[str, Any], key: str, at: tuple[str | int, ...], known: tuple[str, ...]
    ) -> str:
        value = self.text(table, key, at)
        if value and value not in known:
            words = [str(one) for one in known]
            raise self.wrong(
                (*at, key),
                f"{key} = '{value}' is none of {', '.join(words)}",
                did_you_mean(value, words),
            )
        return value

    def names(self, table: Mapping[str, Any], key: str, at: tuple[str | int, ...]) -> tuple[str, ...]:
        words = self.texts(table, key, at)
        for word in words:
            self.must_name_a_check(word, (*at, key))
        return words

    def must_name_a_check(self, word: str, at: tuple[str | int, ...]) -> None:
        rule = Rule(checks=(word,))
        if not any(rule.speaks_of(one) for one in self.checks.values()):
            known = [*self.checks, *{one.family for one in self.checks.values()}]
            hint = did_you_mean(word, known) or "See: pilotage check list."
            raise self.wrong(at, f"'{word}' names no check", hint)

    def severities(self, table: Mapping[str, Any]) -> dict[str, Severity]:
        at = ("checks", "severity")
        found = {}
        for word in (levels := self.table(table.get("severity", {}), at)):
            self.must_name_a_check(word, (*at, word))
            found[word] = Severity(self.one_of(levels, word, at, tuple(Severity)) or self.no_level(at, word))
        return found

    def no_level(self, at: tuple[str, ...], word: str) -> str:
        raise self.wrong((*at, word), f"'{word}' has no severity", f"Known are: {', '.join(Severity)}.")

    def rules(self, table: Mapping[str, Any]) -> tuple[Rule, ...]:
        value = table.get("rules", [])
        if not isinstance(value, list):
            raise self.wrong(("checks", "rules"), "'rules' must be tables: write [[checks.rules]]")
        return tuple(self.rule(one, ("checks", "rules", number)) for number, one in enumerate(value))

    def rule(self, value: object, at: tuple[str | int, ...]) -> Rule:
        if not isinstance(value, dict):
            raise self.wrong(at, "a rule must be a table: write [[checks.rules]]")
        conditions = ("checks", "paths", "kinds", "namespaces", "names")
        self.refuse_unknown(value, (*conditions, "action", "reason", "expires"), at)
        if not any(value.get(key) for key in conditions):
            raise self.wrong(
                at, "a rule without conditions means everything", "Say what it is about: checks, paths …"
            )
        action = self.one_of(value, "action", at, (IGNORE, *Severity)) or IGNORE
        reason = self.text(value, "reason", at).strip()
        if not reason:
            raise self.wrong(at, "a rule needs a reason", 'Write reason = "…": the next reader will ask.')
        return Rule(
            checks=self.names(value, "checks", at),
            paths=self.texts(value, "paths", at),
            kinds=self.texts(value, "kinds", at),
            namespaces=self.texts(value, "namespaces", at),
            names=self.texts(value, "names", at),
            severity=None if action == IGNORE else Severity(action),
            reason=reason,
            expires=self.date(value, at),
            place=Place(str(self.path), line_of(self.lines, at)),
        )

    def date(self, table: Mapping[str, Any], at: tuple[str | int, ...]) -> dt.date | None:
        value = table.get("expires")
        if value is None:
            return None
        if isinstance(value, str):
            value = _read(dt.date.fromisoformat, value)
        if isinstance(value, dt.datetime):
            value = value.date()
        if not isinstance(value, dt.date):
            raise self.wrong((*at, "expires"), "'expires' must be a date such as 2027-03-31")
        return value


def _read(parse: Callable[[str], dt.date], text: str) -> dt.date | None:
    try:
        return parse(text)
    except ValueError:
        return None
