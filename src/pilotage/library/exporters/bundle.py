"""A zip of everything that another tool needs: records, schema, vocabulary, a note on what is inside."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterable
from importlib import resources
from typing import BinaryIO

from pilotage.library.record import SCHEMA_VERSION
from pilotage.library.schema.generate import record_schema
from pilotage.library.stores.protocol import Stored
from pilotage.library.terms import KINDS, load_vocabulary

_EPOCH = (1980, 1, 1, 0, 0, 0)
_README = """Incident records exported by Pilotage.

records/ID.json   one incident each, lossless
schema.json       JSON Schema (2020-12) of a record
vocabulary/       the terms that records are tagged with, in English and Korean

`pilotage library import FILE.zip` brings all records back in.
"""

_BESIDE = frozenset({"README.txt", "about.json", "schema.json"})
_TERMS = re.compile(r"vocabulary/[a-z-]+\.yaml")


def companions(names: Iterable[str]) -> frozenset[str]:
    """What lies beside the records in our own zip, or in the folder that it was unpacked to.

    Args:
        names: of all files; none is a companion when the files are not those of our zip.
    """
    found = frozenset(names)
    if not found >= _BESIDE:
        return frozenset()
    return _BESIDE | {name for name in found if _TERMS.fullmatch(name)}


class Bundle:
    """One zip file."""

    name = "zip"
    title = "one zip with a file a record, the schema and the vocabulary"
    binary = True

    def write(self, records: Iterable[Stored], out: BinaryIO) -> int:
        """Writes the zip; the same records give the same bytes."""
        count = 0
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for stored in records:
                text = json.dumps(stored.document, ensure_ascii=False, indent=1)
                archive.writestr(_named(f"records/{stored.id}.json"), text + "\n")
                count += 1
            archive.writestr(_named("schema.json"), json.dumps(record_schema(), indent=1) + "\n")
            folder = resources.files("pilotage.library") / "vocabulary"
            for kind in KINDS:
                archive.writestr(_named(f"vocabulary/{kind}.yaml"), (folder / f"{kind}.yaml").read_bytes())
            about = {
                "records": count,
                "schema_version": SCHEMA_VERSION,
                "vocabulary": load_vocabulary().versions,
            }
            archive.writestr(_named("about.json"), json.dumps(about, indent=1) + "\n")
            archive.writestr(_named("README.txt"), _README)
        return count


def _named(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    return info
