"""The languages of the library, apart from the record, whose model takes long to import."""

from __future__ import annotations

from typing import Literal

Lang = Literal["en", "ko"]
LANGS: tuple[Lang, ...] = ("en", "ko")
