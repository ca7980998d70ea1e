from __future__ import annotations

import json
from importlib import resources

import yaml

from pilotage.library.terms import COMPILED, KINDS, load_vocabulary
from pilotage.library.vocabulary.compiling import compiled

FOLDER = resources.files("pilotage.library") / "vocabulary"


def test_what_is_read_at_start_is_what_the_yaml_files_say() -> None:
    assert (FOLDER / COMPILED).read_text("utf-8") == compiled(), "run `make docs`"


def test_no_value_is_lost_on_the_way() -> None:
    kinds = json.loads(compiled())
    assert tuple(kinds) == KINDS
    for kind in KINDS:
        said = yaml.safe_load((FOLDER / f"{kind}.yaml").read_text("utf-8"))
        assert kinds[kind] == {"version": said["version"], "terms": said["terms"]}
        assert list(load_vocabulary().of(kind)) == [term["slug"] for term in said["terms"]]
