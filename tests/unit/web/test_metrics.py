"""What the server tells of the library: how much of it is also searched by meaning."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from pilotage.library.catalogue import Catalogue
from pilotage.library.embedding import vectors_of
from pilotage.library.entry import index_entry
from pilotage.library.record import read_record
from pilotage.library.stores.opening import open_store
from pilotage.library.terms import load_vocabulary
from pilotage.web.metrics import Meters
from rig.embedder import HashedWords
from rig.mcp_library import PUBLIC, build


def test_records_with_vectors_are_counted(tmp_path: Path) -> None:
    embedder = HashedWords()
    with closing(open_store(build(tmp_path / "library.db", PUBLIC[:3]))) as store:
        assert b"pilotage_records_with_vectors 0.0" in Meters().text(Catalogue(store, embedder))
        record = read_record(PUBLIC[0])
        found = vectors_of(index_entry(record, load_vocabulary()), embedder)
        store.add_vectors(embedder.name, {record.id: found})
        assert b"pilotage_records_with_vectors 1.0" in Meters().text(Catalogue(store, embedder))
        assert b"pilotage_records_with_vectors 0.0" in Meters().text(Catalogue(store))
