"""Checks against definitions, as a user of the command meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pilotage.cli.main import run

GOLDEN = Path(__file__).parents[3] / "golden" / "checks"
ONLY = ("--select", "schema", "--select", "api_versions", "--output", "json")
FERRY = "apiVersion: sea.example/v1\nkind: Ferry\nmetadata: {name: a}\nspec: {deck: 3}\n"
DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ferries.sea.example}
spec:
  group: sea.example
  scope: Namespaced
  names: {kind: Ferry, plural: ferries}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: {type: object, properties: {decks: {type: integer}}}
"""


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gc.disable", lambda: None)

    def call(*arguments: str):
        with pytest.raises(SystemExit) as stop:
            run(["check", *arguments])
        captured = capsys.readouterr()
        return int(stop.value.code or 0), captured.out, captured.err

    return call


def test_definitions_beside_the_files(said, tmp_path: Path) -> None:
    (tmp_path / "ferry.yaml").write_text(FERRY)
    code, out, _ = said("ferry.yaml", *ONLY)
    assert code == 0
    assert "name its CustomResourceDefinition with --crds" in out
    (tmp_path / "crds").mkdir()
    (tmp_path / "crds" / "ferry.yaml").write_text(DEFINITION)
    code, out, _ = said("ferry.yaml", "--crds", "crds", *ONLY)
    (finding,) = json.loads(out)["findings"]
    assert code == 0
    assert finding["check"] == "unknown-field"
    assert finding["place"] == "ferry.yaml:4:8"
    assert finding["patch"] == [{"op": "move", "from": "/spec/deck", "path": "/spec/decks"}]


def test_a_folder_without_definitions_is_wrong_use(said, tmp_path: Path) -> None:
    (tmp_path / "ferry.yaml").write_text(FERRY)
    code, _, err = said("ferry.yaml", "--crds", "ferry.yaml")
    assert code == 2
    assert "holds no CustomResourceDefinition" in err


def test_the_target_version_decides(said) -> None:
    path = str(GOLDEN / "removed-api" / "bad-gone.yaml")

    def told(*arguments: str) -> str:
        code, out, _ = said(path, "--select", "removed-api", "--output", "json", *arguments)
        assert code == 1
        return " ".join(one["message"] for one in json.loads(out)["findings"])

    assert "autoscaling/v2beta2 is not served since 1.26" in told()
    assert "autoscaling/v2beta2 is deprecated since 1.23 and is to go in 1.26" in told("--kubernetes", "1.25")


def test_zalandos_fields_are_told_once(said) -> None:
    path = str(GOLDEN / "cron-policy-misplaced" / "bad-zalando.yaml")
    _, out, _ = said(path, "--output", "json")
    told = [one["check"] for one in json.loads(out)["findings"]]
    assert told.count("cron-policy-misplaced") == 1
    assert not {"unknown-field", "misplaced-field"} & set(told)
