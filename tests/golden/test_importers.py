"""A folder under `importers/` is a case: `input.*` and what must come of it; a new case needs no code.

`expected.json` holds the documents, `expected-notes.json` the notes as [kind, source, target, why],
`expected-error.txt` the message of the error instead. `PILOTAGE_UPDATE_GOLDEN=1` rewrites what is there.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pilotage.core.errors import PilotageError
from pilotage.library.importers.detect import open_candidates
from pilotage.library.record import read_record

CASES = sorted((Path(__file__).parent / "importers").iterdir())


def check(path: Path, got: str) -> None:
    if os.environ.get("PILOTAGE_UPDATE_GOLDEN"):
        path.write_text(got, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == got


def pretty(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case, monkeypatch):
    monkeypatch.chdir(case)
    (given,) = [path.name for path in Path().glob("input*")]
    wrong = case / "expected-error.txt"
    if wrong.exists():
        with pytest.raises(PilotageError) as caught:
            list(open_candidates([given]))
        check(wrong, f"{caught.value.message}\n{caught.value.hint}\n")
        return
    found = list(open_candidates([given]))
    for candidate in found:
        read_record(candidate.document, where=candidate.place)
    check(case / "expected.json", pretty([candidate.document for candidate in found]))
    notes = case / "expected-notes.json"
    if notes.exists():
        check(notes, pretty([[[n.kind, n.source, n.target, n.why] for n in c.notes] for c in found]))
