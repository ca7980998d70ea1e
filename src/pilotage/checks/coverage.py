"""Why incidents have no check: what is not looked for is said, with its reason."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import resources
from typing import Any

import msgspec
import yaml

FILE = "without_check.yaml"


class Reason(msgspec.Struct, frozen=True):
    """Why an incident has no check.

    Attributes:
        kind: a word for reasons of this kind.
        kind_means: what the word means.
        why: one sentence about this incident.
    """

    kind: str
    kind_means: str
    why: str


@functools.cache
def reasons() -> Mapping[str, Reason]:
    """Incident -> why it has no check."""
    text = (resources.files("pilotage.checks") / "data" / FILE).read_text("utf-8")
    document: dict[str, Any] = yaml.load(text, Loader=yaml.CSafeLoader)
    kinds: dict[str, str] = document["kinds"]
    return {
        id_: Reason(one["kind"], kinds[one["kind"]], one["why"]) for id_, one in document["incidents"].items()
    }
