"""Wrong use is told in our words, in the reader's language; nothing of the library that parses shows through."""

from __future__ import annotations

import pytest

from pilotage.cli.main import pilotage
from pilotage.cli.usage import spoken, told

WRONG: dict[str, tuple[list[str], str, str]] = {
    "no number": (
        ["serve", "--port", "abc"],
        "--port takes a whole number from 0 to 65535, not 'abc'",
        "--port: 0에서 65535까지의 정수를 쓴다(입력: ‘abc’)",
    ),
    "out of range": (
        ["serve", "--port", "99999"],
        "--port takes a whole number from 0 to 65535, not '99999'",
        "--port: 0에서 65535까지의 정수를 쓴다(입력: ‘99999’)",
    ),
    "no upper end": (
        ["library", "show", "x", "--revision", "0"],
        "--revision takes a whole number from 1, not '0'",
        "--revision: 1 이상의 정수를 쓴다(입력: ‘0’)",
    ),
    "any number": (
        ["check", "cluster", "--server-timeout", "soon"],
        "--server-timeout takes a number from 0.1 to 3600, not 'soon'",
        "--server-timeout: 0.1에서 3600까지의 수를 쓴다(입력: ‘soon’)",
    ),
    "no choice": (
        ["check", "list", "--severity", "hihg"],
        "--severity takes critical, high, medium, low, not 'hihg'. Did you mean 'high'?",
        "--severity: critical, high, medium, low 가운데 하나를 쓴다(입력: ‘hihg’). 가까운 것: 'high'",
    ),
    "no option": (
        ["library", "search", "--ofset", "1"],
        "there is no option '--ofset'",
        "‘--ofset’ 옵션은 없다",
    ),
    "no command": (["library", "serch"], "there is no command 'serch'", "‘serch’ 명령은 없다"),
    "no value": (["serve", "--port"], "--port needs a value", "--port에 값을 쓴다"),
    "too few": (["library", "stats", "--by", "year"], "--by takes 2 values", "--by에는 값 2개를 쓴다"),
    "a value too many": (
        ["library", "search", "--no-semantic=1"],
        "--no-semantic takes no value",
        "--no-semantic에는 값을 쓰지 않는다",
    ),
    "no argument": (["library", "show"], "ID is missing", "ID: 값이 없다"),
    "too much": (["library", "show", "a", "b"], "'b' is too much", "남는 값: ‘b’"),
    "no file": (
        ["check", "files", "x", "--crds", "none"],
        "--crds: there is no file or folder 'none'",
        "--crds: 그런 파일이나 폴더가 없다: ‘none’",
    ),
    "said by us": (
        ["library", "import"],
        "name files or folders to import, or --bundled (one of the two)",
        "",
    ),
}


@pytest.mark.parametrize(("arguments", "english", "korean"), WRONG.values(), ids=WRONG)
def test_wrong_use_is_told_in_our_words(arguments: list[str], english: str, korean: str) -> None:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - whatever the library raises
        pilotage.main(arguments, standalone_mode=False)
    message, hint = told(caught.value, "en")
    assert message == english
    assert "--help" in hint
    assert "Try" in hint
    message, hint = told(caught.value, "ko")
    assert message == (korean or english)
    assert "설명이 있다" in hint


def test_a_hint_names_what_was_meant() -> None:
    for arguments, meant in (
        (["library", "serch"], "'search'"),
        (["library", "search", "--limt", "1"], "'--limit'"),
    ):
        with pytest.raises(Exception) as caught:  # noqa: PT011 - whatever the library raises
            pilotage.main(arguments, standalone_mode=False)
        assert f"Did you mean {meant}?" in told(caught.value, "en")[1]


@pytest.mark.parametrize(
    ("arguments", "locale", "lang"),
    [
        (["serve", "--port", "x"], "ko_KR.UTF-8", "ko"),
        (["serve", "--port", "x"], "en_GB.UTF-8", "en"),
        (["serve", "--port", "x"], "", "en"),
        (["library", "search", "--lang", "ko", "--limit", "x"], "en_GB.UTF-8", "ko"),
        (["library", "search", "--lang=en", "--limit", "x"], "ko_KR.UTF-8", "en"),
        (["library", "search", "--lang"], "ko_KR.UTF-8", "ko"),
    ],
)
def test_the_language_is_what_was_asked_for_else_that_of_the_locale(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], locale: str, lang: str
) -> None:
    for name in ("PILOTAGE_LANG", "LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", locale)
    assert spoken(arguments) == lang
