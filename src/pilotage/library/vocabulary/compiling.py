"""From the YAML files, which people write, to the one JSON file that every start reads.

YAML takes a hundred milliseconds to read, the same terms as JSON take a few. `make docs` writes the file, and
a test fails when it is not what the YAML files say.
"""

from __future__ import annotations

import json
from importlib import resources

import yaml

from pilotage.library.terms import KINDS


def compiled() -> str:
    """The text of the JSON file: kind -> version and terms, a term a line, so that changes can be read."""
    folder = resources.files("pilotage.library") / "vocabulary"
    kinds = []
    for kind in KINDS:
        data = yaml.load((folder / f"{kind}.yaml").read_bytes(), Loader=yaml.CSafeLoader)
        terms = ",\n".join(json.dumps(term, ensure_ascii=False) for term in data["terms"])
        kinds.append(f'{json.dumps(kind)}: {{"version": {data["version"]}, "terms": [\n{terms}\n]}}')
    return "{" + ",\n".join(kinds) + "}\n"
