"""Charts and Kustomize folders, rendered by the real helm and kubectl; findings lead to what somebody wrote."""

from __future__ import annotations

import json
import os
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from pilotage.cli.main import run
from rig import helm

pytestmark = pytest.mark.real

TEMPLATE = """\
{{- /* all of them */}}
{{- range .Values.apps }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ . }}
spec:
  type: LoadBalancer
  selector:
    app: {{ . }}
  ports:
    - port: 80
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ . }}
spec:
  replicas: {{ $.Values.replicas }}
  strategy:
    {{- toYaml $.Values.strategy | nindent 4 }}
  selector:
    matchLabels:
      app: {{ . }}
  template:
    metadata:
      labels:
        app: {{ . }}
    spec:
      containers:
        - name: {{ . }}
          image: nginx:1.25
{{- end }}
"""
VALUES = "apps: [one, two]\nreplicas: 1\nstrategy: {type: Recreate}\n"
RECREATE = "recreate-behind-traffic"


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    folders = {str(folder) for folder in helm.folders().values()}
    monkeypatch.setenv("PATH", os.pathsep.join([*folders, os.environ["PATH"]]))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gc.disable", lambda: None)

    def call(*arguments: str) -> tuple[int, dict, str]:
        with pytest.raises(SystemExit) as stop:
            run(["check", *arguments, "--output", "json"])
        captured = capsys.readouterr()
        return int(stop.value.code or 0), json.loads(captured.out or "{}"), captured.err

    return call


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    head = "apiVersion: v2\nname: shop\nversion: 0.1.0\n"
    write(
        tmp_path / "charts" / "shop",
        {
            "Chart.yaml": head,
            "values.yaml": VALUES,
            "templates/all.yaml": TEMPLATE,
            "ci/test.yaml": "kind: [",
        },
    )
    return tmp_path / "charts" / "shop"


def recreates(document: dict) -> list[tuple[str, str]]:
    return sorted((one["object"], one["place"]) for one in document["findings"] if one["check"] == RECREATE)


@pytest.mark.usefixtures("chart")
def test_findings_of_a_chart_stand_in_its_templates(said) -> None:
    code, document, _ = said("charts", "--fail-on", "low")
    place = "charts/shop/templates/all.yaml:21:3"
    assert recreates(document) == [("Deployment one", place), ("Deployment two", place)]
    assert code == 1
    assert not document["problems"]


@pytest.mark.usefixtures("chart")
def test_values_are_no_longer_the_chart_s_own(said, tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": "apps: [three]\n", "b.yaml": "strategy: {type: RollingUpdate}\n"})
    _, document, _ = said("charts/shop", "--values", "a.yaml")
    assert [subject for subject, _ in recreates(document)] == ["Deployment three"]
    _, document, _ = said("charts/shop", "--values", "a.yaml", "--values", "b.yaml")
    assert not recreates(document)


def test_a_packed_chart(said, chart: Path, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "shop-0.1.0.tgz", "w:gz") as archive:
        archive.add(chart, "shop")
    with tarfile.open(tmp_path / "other.tgz", "w:gz") as archive:
        archive.add(chart / "values.yaml", "values.yaml")
    _, document, _ = said("shop-0.1.0.tgz")
    assert recreates(document)[0] == ("Deployment one", "shop-0.1.0.tgz/templates/all.yaml:21:3")
    (chart / "Chart.yaml").unlink()
    _, document, _ = said(".", "--exclude", "charts")
    assert len(recreates(document)) == 2
    assert document["summary"]["skipped"]["archives without a chart"] == 1


def test_rendered_leaves_charts_alone(said, chart: Path) -> None:
    code, document, _ = said("charts", "--rendered")
    assert code == 3
    assert any("unrendered template" in one["message"] for one in document["problems"])
    assert said("charts", "--rendered", "--values", str(chart / "values.yaml"))[0] == 2


def test_what_helm_cannot_render_is_one_problem_with_its_place(said, chart: Path) -> None:
    (chart / "templates" / "bad.yaml").write_text('a: 1\nb: {{ fail "no image" }}\n')
    code, document, _ = said("charts")
    (problem,) = document["problems"]
    assert (code, problem["grave"]) == (3, True)
    assert problem["place"].startswith("charts/shop/templates/bad.yaml:2:")
    assert "no image" in problem["message"]


def test_missing_dependencies_and_library_charts(said, chart: Path, tmp_path: Path) -> None:
    with (chart / "Chart.yaml").open("a") as file:
        file.write("dependencies:\n- {name: redis, version: 1.x, repository: 'https://example.invalid'}\n")
    write(
        tmp_path / "charts" / "lib",
        {"Chart.yaml": "apiVersion: v2\nname: lib\nversion: 1.0.0\ntype: library\n"},
    )
    code, document, _ = said("charts")
    (problem,) = document["problems"]
    assert code == 3
    assert "dependencies are missing (redis): run helm dependency build charts/shop" in problem["message"]
    assert document["summary"]["skipped"]["library charts"] == 1


@pytest.mark.usefixtures("chart")
def test_without_helm(said, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    code, document, _ = said("charts")
    (problem,) = document["problems"]
    assert code == 3
    assert "no helm on the PATH" in problem["message"]
    assert "--rendered" in problem["message"]


def test_values_need_a_chart(said, tmp_path: Path) -> None:
    write(tmp_path, {"v.yaml": "a: 1\n", "deploy/a.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"})
    code, _, err = said("deploy", "--values", "v.yaml")
    assert (code, "no Helm chart" in err) == (2, True)


BASE = """\
# a service
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  type: LoadBalancer
  selector: {app: web}
  ports: [{port: 80}]
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  strategy:
    type: Recreate
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: "web:1"}]
"""


@pytest.fixture
def overlays(tmp_path: Path) -> Callable[[str], None]:
    def laid(patch: str) -> None:
        control = f"resources: [../../base]\nnamePrefix: NAME-\nnamespace: NAME\n{patch}"
        write(
            tmp_path / "k",
            {
                "base/all.yaml": BASE,
                "base/kustomization.yaml": "resources: [all.yaml]\n",
                "overlays/dev/kustomization.yaml": control.replace("NAME", "dev"),
                "overlays/prod/kustomization.yml": control.replace("NAME", "prod"),
            },
        )

    return laid


PATCH = """\
patches:
- target: {kind: Deployment}
  patch: |-
    - {op: replace, path: /spec/strategy, value: {type: RollingUpdate}}
"""


def test_overlays_are_rendered_and_lead_to_the_base(said, overlays) -> None:
    overlays("")
    code, document, _ = said("k")
    place = "k/base/all.yaml:18:5"
    assert recreates(document) == [("Deployment dev/dev-web", place), ("Deployment prod/prod-web", place)]
    assert (code, document["problems"]) == (1, [])


def test_a_namespace_that_kustomize_renames_stands_in_its_file(said, tmp_path: Path) -> None:
    namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: '${NAME}'}\n"
    base = {"base/ns.yaml": namespace, "base/all.yaml": BASE}
    base["base/kustomization.yaml"] = "resources: [ns.yaml, all.yaml]\n"
    overlay = "resources: [../base]\nnamespace: shop\n"
    write(tmp_path / "k", base | {f"{one}/kustomization.yaml": overlay for one in ("a", "b")})
    found = said("k", "--select", "ns-no-default-limit")[1]["findings"]
    assert [(one["object"], one["file"], one["count"]) for one in found] == [
        ("Namespace shop", "k/base/ns.yaml", 2)
    ]


def test_patches_are_applied(said, overlays) -> None:
    overlays(PATCH)
    assert not recreates(said("k")[1])
    assert recreates(said("k", "--rendered")[1])


def test_an_overlay_by_itself_and_overlays_that_are_one_line(said, overlays, tmp_path: Path) -> None:
    overlays("")
    assert [subject for subject, _ in recreates(said("k/overlays/prod")[1])] == ["Deployment prod/prod-web"]
    for name in ("dev/kustomization.yaml", "prod/kustomization.yml"):
        (tmp_path / "k" / "overlays" / name).write_text("resources: [../../base]\n")
    document = said("k")[1]
    assert [one["count"] for one in document["findings"] if one["check"] == RECREATE] == [2]


def test_what_kustomize_cannot_render_is_read_as_it_lies(said, overlays) -> None:
    overlays("resources: [absent.yaml]\n")
    code, document, _ = said("k")
    assert code == 1
    assert len(document["problems"]) == 2
    assert all(one["grave"] and "kustomization.y" in one["place"] for one in document["problems"])
    assert recreates(document) == [("Deployment web", "k/base/all.yaml:18:5")]


def test_without_kustomize(said, overlays, monkeypatch: pytest.MonkeyPatch) -> None:
    overlays("")
    monkeypatch.setenv("PATH", "")
    _, document, _ = said("k")
    assert "neither kustomize nor kubectl on the PATH" in document["problems"][0]["message"]
    assert recreates(document) == [("Deployment web", "k/base/all.yaml:18:5")]


def test_comments_of_templates_and_bases_count(said, chart: Path, overlays, tmp_path: Path) -> None:
    overlays("")
    note = f"# pilotage: ignore[{RECREATE}] one at a time\n"
    base = tmp_path / "k" / "base" / "all.yaml"
    base.write_text(BASE.replace("  strategy:\n", f"  {note}  strategy:\n"))
    template = chart / "templates" / "all.yaml"
    template.write_text(TEMPLATE.replace("  strategy:\n", f"  {note}  strategy:\n"))
    _, document, _ = said(".")
    assert not recreates(document)
    assert {one["ignored_at"] for one in document["ignored"]} == {
        "k/base/all.yaml:17:3",
        "charts/shop/templates/all.yaml:21:3",
    }


def test_a_change_of_values_brings_findings(said, chart: Path, tmp_path: Path) -> None:
    names = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    (chart / "ci" / "test.yaml").unlink()
    (chart / "values.yaml").write_text(VALUES.replace("Recreate", "RollingUpdate"))
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]):
        subprocess.run(["git", *command], cwd=tmp_path, env={**os.environ, **names}, check=True)
    assert not recreates(said("charts", "--changed-since", "HEAD")[1])
    (chart / "values.yaml").write_text(VALUES)
    assert len(recreates(said("charts", "--changed-since", "HEAD")[1])) == 2
