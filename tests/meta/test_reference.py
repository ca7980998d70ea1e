"""The reference pages are what the code says, and leave nothing out."""

from __future__ import annotations

import re

import click
import pytest

from meta.tree import ROOT, generator
from pilotage.cli.lazy import LazyGroup
from pilotage.cli.main import pilotage
from pilotage.core.errors import PilotageError, all_errors
from pilotage.core.settings import known_settings

GENERATE = generator()
COMMANDS = {context.command_path: (context, short) for context, short in GENERATE.commands(pilotage)}
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)")


def test_reference_is_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    code = GENERATE.main(["--check"])
    assert code == 0, capsys.readouterr().out


def test_check_names_a_file_that_differs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = GENERATE.REFERENCE / "formats.md"
    before = path.read_bytes()
    monkeypatch.setattr(GENERATE, "PAGES", {path: lambda: "other"})
    assert GENERATE.main(["--check"]) == 1
    assert "docs/reference/formats.md differs" in capsys.readouterr().out
    assert path.read_bytes() == before


@pytest.mark.parametrize("error", all_errors(), ids=lambda error: error.code)
def test_every_error_is_documented(error: type[PilotageError]) -> None:
    page = (GENERATE.REFERENCE / "errors.md").read_text("utf-8")
    assert f"| `{error.code}` |" in page
    assert error.summary.endswith(".")
    assert error.__doc__


def test_codes_of_errors_are_their_own() -> None:
    codes = [error.code for error in all_errors()]
    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_has_help_with_examples(path: str) -> None:
    context, short = COMMANDS[path]
    text = context.get_help()
    assert "Examples:" in text
    examples = re.findall(r"^\s+(?:.*\| )?pilotage .*$", text.partition("Examples:")[2], re.MULTILINE)
    assert examples, "an example begins with the command"
    first = (context.command.help or "").strip().splitlines()[0]
    assert first.rstrip().endswith((".", ","))
    if context.parent is not None:
        assert short.endswith(".")
        assert len(short) <= 60, "the list of commands stays on one line each"


@pytest.mark.parametrize("path", COMMANDS)
def test_every_option_and_argument_is_explained(path: str) -> None:
    context, _ = COMMANDS[path]
    for parameter in context.command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name
            assert parameter.help.endswith("."), parameter.help


def test_examples_of_the_help_name_options_that_exist() -> None:
    for path, (context, _) in COMMANDS.items():
        for line in context.get_help().partition("Examples:")[2].partition("Options:")[0].splitlines():
            match = re.search(r"pilotage library ([a-z]+)(.*)", line)
            if match is None:
                continue
            command = COMMANDS[f"pilotage library {match[1]}"][0].command
            known = {name for parameter in command.params for name in parameter.opts}
            used = set(re.findall(r"(?<=\s)(--[a-z-]+)", match[2].partition("&&")[0]))
            assert used <= known, f"{path}: {line}"


def test_lists_of_commands_are_complete() -> None:
    assert isinstance(pilotage, LazyGroup)
    promised = "search show list related topic vocab stats import export validate verify new history evaluate"
    assert {f"pilotage library {name}" for name in promised.split()} <= COMMANDS.keys()


def test_every_setting_is_documented() -> None:
    page = (GENERATE.REFERENCE / "settings.md").read_text("utf-8")
    for key, setting in known_settings().items():
        assert f"| `{key}` | `{setting.variable}` |" in page
        assert setting.meaning.endswith(".")


def test_links_between_pages_lead_somewhere() -> None:
    pages = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
    for page in pages:
        for target in LINK.findall(page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.relative_to(ROOT)}: {target}"
