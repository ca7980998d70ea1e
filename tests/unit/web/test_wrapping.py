"""A text to check that came in a wrapper is answered with what to send instead."""

from __future__ import annotations

import json

import pytest

from pilotage.core.errors import InvalidInput
from pilotage.web.wrapping import refuse_wrapped

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n"
OBJECT = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}}
WRAPPED = [
    ({"text": POD}, "without `kind`.* in its `text` is not read"),
    ({"name": "a\n", "text": POD}, "`text` is not read"),
    ({"manifest": OBJECT}, "`manifest`"),
    ({"manifests": [OBJECT, OBJECT]}, "`manifests`"),
    ({"manifests": [POD]}, "`manifests`"),
    ({"content": "frontend a\n  bind :80\n"}, "`content`"),
    ({"params": {"arguments": {"text": POD}}}, "`params`"),
    ({"a": 1}, "no Kubernetes object$"),
    ([OBJECT], "a JSON list"),
    (POD, "a JSON string"),
]


@pytest.mark.parametrize(("sent", "words"), WRAPPED)
def test_json_around_a_manifest(sent: object, words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as caught:
        refuse_wrapped(f" {json.dumps(sent)}\n")
    assert "--data-binary" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ("text=apiVersion%3A+v1%0Akind%3A+Pod%0A", "a form whose field `text`"),
        ("manifest=apiVersion: v1\nkind: Pod\n", "a form whose field `manifest`"),
        ("apiVersion: apps/v1kind: Deploymentmetadata:  name: web", "without its line ends"),
    ],
)
def test_forms_and_lost_line_ends(sent: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        refuse_wrapped(sent)


@pytest.mark.parametrize(
    "sent",
    [
        POD,
        json.dumps(OBJECT),
        json.dumps({"kind": "List", "apiVersion": "v1", "items": [OBJECT]}),
        json.dumps(OBJECT) * 2,
        "{apiVersion: v1, kind: Pod, metadata: {name: web}}",
        '{"text": ' * 5000,
        "global\n  maxconn 5\n",
        ".:53 {\n  errors\n}\n",
        "apiVersion: v1",
        "# x=%20\n" + POD,
        "5",
    ],
)
def test_what_is_no_wrapper_is_left_to_the_readers(sent: str) -> None:
    refuse_wrapped(sent)
