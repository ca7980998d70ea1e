"""Wrong use of a command in our words: what the library that reads arguments finds, in either language."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

import click
from click.exceptions import (
    BadArgumentUsage,
    BadOptionUsage,
    BadParameter,
    ClickException,
    MissingParameter,
    NoSuchCommand,
    NoSuchOption,
    UsageError,
)

from pilotage.core.text import nearest
from pilotage.library.languages import Lang

_VALUE = re.compile(r"^'?(.*?)'? is not ", re.DOTALL)
_FILE = re.compile(r"^\w+ '(.*)' (does not exist|is a file|is a directory|is not \w+)\.$", re.DOTALL)
_EXTRA = re.compile(r"^Got unexpected extra arguments? \((.*)\)$", re.DOTALL)
_FILES: dict[str, tuple[str, str]] = {
    "does not exist": ("there is no file or folder '{}'", "그런 파일이나 폴더가 없다: ‘{}’"),
    "is a file": ("'{}' is a file", "파일이다: ‘{}’"),
    "is a directory": ("'{}' is a folder", "폴더다: ‘{}’"),
    "is not readable": ("'{}' may not be read", "읽을 권한이 없다: ‘{}’"),
    "is not writable": ("'{}' may not be written", "쓸 권한이 없다: ‘{}’"),
}


def spoken(arguments: Sequence[str]) -> Lang:
    """The language of a command line that cannot be understood: what it asks for, else the locale's."""
    for at, one in enumerate(arguments):
        wanted = one.partition("=")[2] or "".join(arguments[at + 1 : at + 2])
        if one.partition("=")[0] == "--lang" and wanted in {"en", "ko"}:
            return "ko" if wanted == "ko" else "en"
    named = (os.environ.get(name) for name in ("PILOTAGE_LANG", "LC_ALL", "LC_MESSAGES", "LANG"))
    return "ko" if next(filter(None, named), "").startswith("ko") else "en"


def told(error: ClickException, lang: Lang) -> tuple[str, str]:
    """What is wrong, and what to do about it."""
    words = _Words(lang)
    context: click.Context | None = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "pilotage"
    near = ""
    if isinstance(error, NoSuchOption):
        near = words.near(nearest(error.option_name, error.possibilities or ()))
    if isinstance(error, NoSuchCommand) and context is not None and isinstance(context.command, click.Group):
        near = words.near(nearest(error.command_name, context.command.list_commands(context)))
    hint = f"{near} {words.say(f'Try `{path} --help`.', f'`{path} --help`에 설명이 있다.')}".strip()
    return _message(error, words), hint


class _Words:
    def __init__(self, lang: Lang) -> None:
        self.lang = lang

    def say(self, english: str, korean: str) -> str:
        return korean if self.lang == "ko" else english

    def near(self, names: Sequence[str]) -> str:
        listed = self.say(" or ", ", ").join(f"'{name}'" for name in names)
        return self.say(f"Did you mean {listed}?", f"가까운 것: {listed}") if names else ""

    def between(self, low: float | None, high: float | None) -> str:
        if high is None:
            return self.say(f"from {low}", f"{low} 이상")
        return self.say(f"from {low} to {high}", f"{low}에서 {high}까지")


def _message(error: ClickException, words: _Words) -> str:
    text = error.message
    if isinstance(error, NoSuchOption):
        name = error.option_name
        return words.say(f"there is no option '{name}'", f"‘{name}’ 옵션은 없다")
    if isinstance(error, NoSuchCommand):
        name = error.command_name
        return words.say(f"there is no command '{name}'", f"‘{name}’ 명령은 없다")
    if isinstance(error, BadOptionUsage | BadArgumentUsage):
        return _without_value(error, words)
    if isinstance(error, BadParameter):
        return _name(error) + _wrong_value(error, words)
    extra = _EXTRA.match(text)
    if isinstance(error, UsageError) and extra is not None:
        return words.say(f"'{extra[1]}' is too much", f"남는 값: ‘{extra[1]}’")
    # What is left was said by us.
    return error.format_message().rstrip(".")


def _without_value(error: BadOptionUsage | BadArgumentUsage, words: _Words) -> str:
    name = getattr(error, "option_name", "")
    if "does not take a value" in error.message:
        return words.say(f"{name} takes no value", f"{name}에는 값을 쓰지 않는다")
    several = re.search(r"(\d+) (?:arguments|values)", error.message)
    if several is not None:
        return words.say(f"{name} takes {several[1]} values", f"{name}에는 값 {several[1]}개를 쓴다").strip()
    return words.say(f"{name} needs a value", f"{name}에 값을 쓴다")


def _name(error: BadParameter) -> str:
    param = error.param
    if param is None:
        return str(error.param_hint or "").strip("'")
    if isinstance(param, click.Option):
        return next((text for text in param.opts if text.startswith("--")), param.opts[0])
    context = error.ctx
    return param.make_metavar(context) if context is not None else str(param.name)


def _wrong_value(error: BadParameter, words: _Words) -> str:
    if isinstance(error, MissingParameter):
        return words.say(" is missing", ": 값이 없다")
    kind = getattr(error.param, "type", None)
    value = _VALUE.match(error.message)
    file = _FILE.match(error.message)
    if file is not None and file[2] in _FILES:
        return ": " + words.say(*_FILES[file[2]]).format(file[1])
    if value is None:
        return f": {error.message.rstrip('.')}"
    if isinstance(kind, click.Choice):
        names = [str(name) for name in kind.choices]
        listed, near = ", ".join(names), words.near(nearest(value[1], names))
        said = words.say(
            f" takes {listed}, not '{value[1]}'", f": {listed} 가운데 하나를 쓴다(입력: ‘{value[1]}’)"
        )
        return f"{said}. {near}" if near else said
    if isinstance(kind, click.IntRange | click.FloatRange):
        whole = isinstance(kind, click.IntRange)
        number = words.say("a whole number" if whole else "a number", "정수" if whole else "수")
        between = words.between(kind.min, kind.max)
        return words.say(
            f" takes {number} {between}, not '{value[1]}'",
            f": {between}의 {number}를 쓴다(입력: ‘{value[1]}’)",
        )
    return f": {error.message.rstrip('.')}"
