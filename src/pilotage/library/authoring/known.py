"""The slugs that each field of a record may use, from the vocabulary."""

from __future__ import annotations

from collections.abc import Mapping

from pilotage.library.terms import Vocabulary

_KIND_OF_FIELD = {
    "domain": "domains",
    "symptoms": "symptoms",
    "components": "components",
    "contributing": "contributing",
    "root_cause": "root-causes",
    "severity": "severities",
    "detection_kind": "detection",
    "remediation.kind": "remediation",
    "sources.kind": "source-kinds",
}


def known_slugs(vocabulary: Vocabulary) -> Mapping[str, frozenset[str]]:
    """Field of the record -> slugs of its vocabulary, deprecated ones included: they still resolve."""
    return {field: frozenset(vocabulary.of(kind)) for field, kind in _KIND_OF_FIELD.items()}
