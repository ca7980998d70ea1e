"""A part of an object that Kustomize built is told at its place in the file, whatever patches did to lists."""

from __future__ import annotations

import pytest

from pilotage.checks.objects import KubeObject, SourceFile
from pilotage.checks.readers.built import BuiltObject
from pilotage.checks.readers.files import read_text
from pilotage.checks.readers.manifests import documents
from pilotage.checks.values import KeyPath, dig

FILE = """\
kind: ValidatingWebhookConfiguration
apiVersion: admissionregistration.k8s.io/v1
metadata: {name: hooks}
webhooks:
  - name: a.example.org
    failurePolicy: Fail
  - name: b.example.org
    rules:
      - operations: [CREATE, UPDATE]
"""
BUILT = {
    "kind": "ValidatingWebhookConfiguration",
    "apiVersion": "admissionregistration.k8s.io/v1",
    "metadata": {"name": "hooks"},
    "webhooks": [
        {"name": "new.example.org"},
        {"name": "b.example.org", "rules": [{"operations": ["UPDATE"]}, {"operations": ["DELETE"]}]},
        {"name": "a.example.org", "failurePolicy": "Ignore"},
    ],
}


def _built() -> BuiltObject:
    (written,) = read_text(FILE, "hooks.yaml").objects
    (document,) = documents(SourceFile("hooks.yaml", FILE))
    return BuiltObject(BUILT, document, (), written.data)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ((), 1),
        (("webhooks",), 4),
        (("webhooks", 0), 4),
        (("webhooks", 0, "name"), 4),
        (("webhooks", 1), 7),
        (("webhooks", 1, "rules"), 8),
        (("webhooks", 1, "rules", 0, "operations", 0), 8),
        (("webhooks", 2, "failurePolicy"), 6),
        (("webhooks", 2, "sideEffects"), 5),
        (("metadata", "labels"), 3),
    ],
)
def test_a_part_stands_where_the_file_has_it(path: KeyPath, line: int) -> None:
    place = _built().place(path)
    assert (place.line, place.path) == (line, KubeObject(BUILT).place(path).path)
    assert line in _built().lines(path)


def test_items_of_one_name_and_of_none_keep_their_order() -> None:
    head = "kind: A\napiVersion: v1\nmetadata: {name: a}\nspec:\n"
    text = f"{head}  named:\n  - {{name: n, v: 1}}\n  - {{name: n, v: 2}}\n  plain:\n  - 1\n  - 2\n"
    (written,) = read_text(text, "a.yaml").objects
    (document,) = documents(SourceFile("a.yaml", text))
    data = {
        **written.data,
        "spec": {"named": [{"name": "n", "v": 3}, {"name": "n", "v": 2}], "plain": [5, 2]},
    }
    built = BuiltObject(data, document, (), written.data)
    lines = [
        built.place(("spec", key, at)).line
        for key in ("named", "plain")
        for at in range(len(dig(data, "spec", key)))
    ]
    assert lines == [6, 7, 9, 10]
