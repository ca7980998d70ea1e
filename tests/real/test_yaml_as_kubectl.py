"""What kubectl accepts we accept, and read in the same way: tricky YAML against the real kubectl and API server.

All texts go to a few runs of `kubectl create --dry-run=server`; each has object names of its own, by which the answers are told
apart. The kind of the objects takes any value, so that what comes back is what was understood.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pilotage.checks.readers.files import read_text
from rig.kube_control_plane import control_plane, wait_until
from rig.tricky_yaml import DOCUMENTS, HEAD, VALUES, WORDS

pytestmark = pytest.mark.real

DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "anythings.tricky.example"},
    "spec": {
        "group": "tricky.example",
        "scope": "Cluster",
        "names": {"plural": "anythings", "singular": "anything", "kind": "Anything"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
                },
            }
        ],
    },
}

MORE_TOLERANT = {
    '"\\/"': "an escape of JSON that kubectl's YAML does not know",
    "!!timestamp now": "nothing but text is made of a timestamp anyway",
    "divider-text": "a word behind three dashes",
    "divider-inline": "an object behind three dashes",
    "divider-inline-second": "an object behind three dashes",
    "directive": "a version directive",
    "directive-1-2": "a version directive",
    "directive-2-0": "a version directive",
    "directive-tag": "a tag directive",
    "directive-unknown": "a directive that nobody knows",
    "json-large": "a number beyond all bounds is text for us",
    "name-number": "a name that is a number: the schema's checks tell that",
    "name-yes": "a name that is a boolean: the schema's checks tell that",
}
"""What we read and kubectl refuses, each with what it is about."""


@dataclass(frozen=True)
class Answer:
    """What kubectl made of a text.

    Attributes:
        objects: what the server would have created.
        refused: whether any part was refused.
    """

    objects: list[Any]
    refused: bool


def texts() -> dict[str, str]:
    found = {f"word {word}": f"{HEAD}spec:\n  value: {word}\n" for word in WORDS}
    found |= {value: f"{HEAD}spec: {value}\n" for value in VALUES}
    return found | DOCUMENTS


@functools.cache
def renamed() -> dict[str, str]:
    """The texts, their objects called by the number of the text."""
    return {
        name: re.sub(r"\b(one|two)\b", rf"n{number}-\1", text)
        for number, (name, text) in enumerate(texts().items())
    }


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answer]:
    folder = tmp_path_factory.mktemp("tricky")
    files = {name: folder / f"{number:04}.yaml" for number, name in enumerate(renamed())}
    for name, text in renamed().items():
        files[name].write_bytes(text.encode("utf-8", "surrogateescape"))
    with control_plane() as plane:
        plane.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION)
        dry = ("create", "--dry-run=server", "--validate=false", "-o", "json", "-f")
        wait_until(lambda: plane.kubectl(*dry, "-", text=HEAD).returncode == 0, within=90, what="the kind")
        made: list[Any] = []
        errors = ""
        for some in chunks(list(files.values()), 80):
            done = plane.kubectl(*dry[:-1], *(f"--filename={file}" for file in some))
            made += values(done.stdout.decode())
            errors += done.stderr.decode()
    by_name = {one["metadata"]["name"]: one for one in made}
    return {
        name: Answer(
            [by_name[one] for one in names_in(renamed()[name]) if one in by_name],
            refused=str(file) in errors,
        )
        for name, file in files.items()
    }


def chunks(items: list[Path], size: int) -> Iterator[list[Path]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def names_in(text: str) -> list[str]:
    found = re.findall(r"n\d+-(?:one|two)", text)
    return sorted({*found, "12"} if "name: '12'" in text else set(found))


def values(text: str) -> Iterator[Any]:
    decoder, at = json.JSONDecoder(), 0
    while at < len(text.rstrip()):
        start = at + len(text[at:]) - len(text[at:].lstrip())
        value, at = decoder.raw_decode(text, start)
        yield from value["items"] if value["kind"] == "List" else [value]


def plain(value: Any) -> Any:
    """A value with numbers told from booleans, and 1.0 the same as 1, as in JSON."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    whole = float(value).is_integer() and abs(value) <= 2**53
    return ("number", int(value) if whole else float(value))


def essence(one: Any) -> Any:
    found = {key: plain(value) for key, value in one.items() if key != "metadata" and value is not None}
    return {**found, "name": one["metadata"].get("name")}


def ours(text: str) -> tuple[list[Any], list[str]]:
    reading = read_text(text, "tricky.yaml")
    return [essence(one.data) for one in reading.objects], [
        problem.message for problem in reading.problems if problem.grave
    ]


@pytest.mark.parametrize("name", list(texts()))
def test_what_kubectl_accepts_is_read_in_the_same_way(name: str, answers: dict[str, Answer]) -> None:
    answer = answers[name]
    objects, problems = ours(renamed()[name])
    if answer.refused:
        assert problems or name in MORE_TOLERANT
        return
    assert name not in MORE_TOLERANT
    assert objects == [essence(one) for one in answer.objects]
    assert not problems or not objects


def test_most_texts_are_accepted_and_many_are_not(answers: dict[str, Answer]) -> None:
    accepted = [name for name, answer in answers.items() if answer.objects and not answer.refused]
    refused = [name for name, answer in answers.items() if answer.refused]
    assert len(accepted) > 300
    assert len(refused) > 60


def test_nearly_every_text_has_names_of_its_own() -> None:
    # The answer to one without would be taken for nothing.
    nameless = {name for name, text in renamed().items() if not names_in(text)}
    assert nameless <= {
        "list-empty",
        "not-a-map",
        "word",
        "template",
        "name-number",
        "name-yes",
        "name-quoted-number",
        "cr",
    }
