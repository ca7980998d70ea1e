from __future__ import annotations

from pathlib import Path

import pytest

from pilotage.core.errors import ConfigError
from pilotage.core.settings import load


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
    assert "STORE" in caught.value.hint


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
