"""JSON schemas that kubeconform can read without a network, from the package kubernetes-validate.

    python benchmarks/kubeconform_schemas.py SOURCE TARGET

`SOURCE` is a folder such as `v1.36.0-local-strict` of that package. Its schemas refer to one another by addresses that
only a server would know; here they point at the file beside.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main() -> None:
    source, target = map(Path, sys.argv[1:3])
    target.mkdir(parents=True, exist_ok=True)
    for file in source.glob("*.json"):
        schema = json.loads(file.read_text())
        schema.pop("$id", None)
        text = json.dumps(schema).replace('"/api/_definitions.json', '"_definitions.json')
        (target / file.name).write_text(text)
    print(f"{len(list(target.glob('*.json')))} files in {target}")


if __name__ == "__main__":
    main()
