"""A folder under `search/` is a case: a query over the bundled records, from words alone, and its answer.

`query.txt` is the query (the newline at its end is not part of it), `options.json` holds `lang` and `facets`
(terms, as `-f` takes them), `expected.json` what must come of it: `first` (ids of the first hits in order) or
`no_good_match`, `terms` of the first hit that matched, `corrections`, `pasted`. A new case needs no code.
`PILOTAGE_UPDATE_GOLDEN=1` rewrites what is there, with as many ids as there were.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pilotage.library.bundled import bundled_candidates
from pilotage.library.catalogue import Catalogue
from pilotage.library.ingest import Ingest
from pilotage.library.search.engine import Request
from pilotage.library.stores.opening import open_store
from pilotage.library.stores.protocol import Filters
from pilotage.library.terms import load_vocabulary

CASES = sorted((Path(__file__).parent / "search").iterdir())


@pytest.fixture(scope="session")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalogue]:
    path = tmp_path_factory.mktemp("golden") / "library.db"
    with open_store(str(path), create=True) as store:
        Ingest(store, load_vocabulary()).run(bundled_candidates())
        yield Catalogue(store)


def answer(catalogue: Catalogue, case: Path, first: int) -> dict[str, Any]:
    options = json.loads((case / "options.json").read_text("utf-8"))
    text = (case / "query.txt").read_text("utf-8").removesuffix("\n")
    filters = Filters(all_of=catalogue.tags(options.get("facets", []), "public"))
    found = catalogue.search(Request(text, filters, lang=options["lang"]))
    got: dict[str, Any] = {
        "no_good_match": found.no_good_match,
        "first": [hit.record.id for hit in found.hits[:first]],
        "terms": sorted({term.slug for term in found.hits[0].why.terms}) if found.hits else [],
        "corrections": dict(found.corrections),
        "pasted": found.pasted,
    }
    return got


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Path, bundled: Catalogue) -> None:
    path = case / "expected.json"
    expected = json.loads(path.read_text("utf-8")) if path.exists() else {"first": [""]}
    got = answer(bundled, case, len(expected["first"]))
    if os.environ.get("PILOTAGE_UPDATE_GOLDEN"):
        path.write_text(json.dumps(got, ensure_ascii=False, indent=1) + "\n", "utf-8")
        return
    assert got == expected
