from __future__ import annotations

import pytest

from pilotage.library import missing
from pilotage.library.missing import no_record
from pilotage.library.stores.protocol import Store
from unit.library.small_library import library, record


def test_the_nearest_ids_are_named_unless_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    with library(record("alpha"), record("secret", visibility="private")) as store:
        assert no_record(store, "alpah", "public").hint == "Did you mean 'alpha'?"
        assert "secret" not in no_record(store, "secrt", "public").hint
        monkeypatch.setattr(missing, "_NEAR_AMONG", 0)
        monkeypatch.setattr(type(store), "ids", _never)
        assert no_record(store, "alpah", "public").hint == "Search finds ids."


def _never(_store: Store, _audience: str) -> list[str]:
    raise AssertionError("all ids were read")
