from __future__ import annotations

from pathlib import Path

import pytest

from pilotage.core.errors import ConfigError
from pilotage.core.settings import StoreSettings, known_settings, load


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("PILOTAGE_STORE__URL", "PILOTAGE_LANG"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_the_default_store_is_one_file_of_the_user() -> None:
    assert load({}).store.url.startswith("sqlite:///")


def test_flags_beat_variables_beat_the_file(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (elsewhere / "pilotage.toml").write_text('lang = "ko"\n[store]\nurl = "from-file.db"\n')
    assert load({}).store.url == "from-file.db"
    monkeypatch.setenv("PILOTAGE_STORE__URL", "from-environment.db")
    assert load({}).store.url == "from-environment.db"
    assert load({"store": {"url": "from-flag.db"}}).store.url == "from-flag.db"
    assert load({}).lang == "ko"


def test_a_flag_for_one_key_leaves_the_others_of_the_section(elsewhere: Path) -> None:
    (elsewhere / "pilotage.toml").write_text("[store]\nbusy_seconds = 5\n")
    assert load({"store": {"url": "x.db"}}).store.busy_seconds == 5


def test_an_unknown_key_of_the_file_is_refused_with_the_nearest(elsewhere: Path) -> None:
    (elsewhere / "pilotage.toml").write_text('[store]\nulr = "x"\n')
    with pytest.raises(ConfigError) as caught:
        load({})
    assert "store.ulr" in caught.value.message
    assert "'url'" in caught.value.hint


def test_a_misspelt_variable_is_refused_with_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PILOTAGE_STROE__URL", "x.db")
    with pytest.raises(ConfigError) as caught:
        load({})
    assert "PILOTAGE_STROE__URL" in caught.value.message
    assert "PILOTAGE_STORE__URL" in caught.value.hint


def test_a_wrong_value_names_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PILOTAGE_STORE__BUSY_SECONDS", "soon")
    with pytest.raises(ConfigError, match=r"store\.busy_seconds"):
        load({})


def test_a_broken_file_is_one_clear_error(elsewhere: Path) -> None:
    (elsewhere / "pilotage.toml").write_text("[store\n")
    with pytest.raises(ConfigError, match=r"pilotage\.toml"):
        load({})


def test_the_table_of_the_checks_is_no_setting(elsewhere: Path) -> None:
    (elsewhere / "pilotage.toml").write_text('lang = "ko"\n[checks]\nfail_on = "low"\n')
    assert load({}).lang == "ko"


def test_a_number_in_words_and_one_out_of_range_say_what_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    for value, said in (("0", "above 0"), ("nan", "a number"), ("inf", "a number"), ("", "a number")):
        monkeypatch.setenv("PILOTAGE_STORE__BUSY_SECONDS", value)
        with pytest.raises(ConfigError, match=said):
            load({})
    monkeypatch.delenv("PILOTAGE_STORE__BUSY_SECONDS")
    monkeypatch.setenv("PILOTAGE_WEB__PORT", "65536")
    with pytest.raises(ConfigError, match="0 to 65535") as caught:
        load({})
    assert "PILOTAGE_WEB__PORT" in caught.value.message


def test_a_language_that_is_not_spoken_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PILOTAGE_LANG", "de")
    with pytest.raises(ConfigError, match="one of en, ko"):
        load({})


@pytest.mark.parametrize(
    ("text", "found"), [("true", True), ("1", True), ("YES", True), ("off", False), ("0", False)]
)
def test_truth_has_many_words(text: str, found: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PILOTAGE_LIBRARY__INCLUDE_PRIVATE", text)
    assert load({}).library.include_private is found


def test_a_list_in_a_variable_is_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PILOTAGE_LIBRARY__REDACT_WORDS", '["Falcon", "오리온"]')
    assert load({}).library.redact_words == ("Falcon", "오리온")
    for wrong in ("Falcon", '{"a": 1}', "[1]"):
        monkeypatch.setenv("PILOTAGE_LIBRARY__REDACT_WORDS", wrong)
        with pytest.raises(ConfigError, match="list of texts"):
            load({})


def test_a_section_in_a_variable_is_json_and_its_single_keys_beat_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PILOTAGE_STORE", '{"url": "a.db", "busy_seconds": 3}')
    monkeypatch.setenv("PILOTAGE_STORE__URL", "b.db")
    assert load({}).store == StoreSettings("b.db", 3.0)
    for wrong in ("a.db", "3", '"a.db"'):
        monkeypatch.setenv("PILOTAGE_STORE", wrong)
        with pytest.raises(ConfigError, match="PILOTAGE_STORE"):
            load({})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('store = "x.db"\n', "'store' is a table"),
        ("[store]\nurl = 5\n", "store.url"),
        ("[web]\nport = true\n", "web.port"),
        ("[web]\nworkers = 1.5\n", "web.workers"),
        ('[library]\nsemantic = "maybe"\n', "true or false"),
        ("nothing = 1\n", "no setting 'nothing'"),
        ("[other]\na = 1\n", "no setting 'other'"),
        ("[store]\nbusy_seconds = " + "9" * 400 + "\n", "must be a number"),
        ("[store]\nbusy_seconds = " + "9" * 5_000 + "\n", "digits"),
        ("[store]\nbusy_seconds = 1e9\n", "at most 86400"),
    ],
)
def test_a_wrong_file_names_file_and_key(text: str, said: str, elsewhere: Path) -> None:
    (elsewhere / "pilotage.toml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load({})
    assert caught.value.message.startswith("pilotage.toml: ")
    assert said in caught.value.message


def test_a_file_in_another_encoding_is_one_clear_error(elsewhere: Path) -> None:
    (elsewhere / "pilotage.toml").write_bytes('lang = "ko" # 한'.encode("utf-16"))
    with pytest.raises(ConfigError, match=r"pilotage\.toml"):
        load({})


def test_every_setting_has_a_variable_that_sets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    words = {"str": "en", "int": "2", "float": "2.5", "tuple[str, ...]": '["x"]'}
    for setting in known_settings().values():
        word = str(not setting.default) if setting.kind == "bool" else words[setting.kind]
        monkeypatch.setenv(setting.variable, word)
    changed = load({})
    for setting in known_settings().values():
        section, _, name = setting.key.rpartition(".")
        value = getattr(getattr(changed, section) if section else changed, name)
        assert value != setting.default, setting.key


def test_the_token_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PILOTAGE_WEB__TOKEN", "open-sesame")
    assert load({}).web.token == "open-sesame"
    assert "sesame" not in repr(load({}))


def test_a_section_that_is_no_json_names_the_variables_of_its_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PILOTAGE_STORE", "/srv/library.db")
    with pytest.raises(ConfigError, match="PILOTAGE_STORE is no JSON") as caught:
        load({})
    assert "PILOTAGE_STORE__URL" in caught.value.hint
