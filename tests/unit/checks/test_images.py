"""The image that Kustomize writes counts, rendered or not."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import pytest
import yaml

from pilotage.checks.families.images import image_tag_moves
from pilotage.checks.families.withdrawn import image_gone
from pilotage.checks.gone_images import gone_image
from pilotage.checks.model import Gap, Severity
from pilotage.checks.objects import Document, KubeObject, SourceFile, Unbuilt
from pilotage.checks.readers.kustomize import FileOrigin
from pilotage.checks.scene import Scene

NAME = "registry.example/web"


def scene(image: str, document: Document | None = None, made: str = "") -> Scene:
    container = {"name": "app", "image": image, "ports": [{"containerPort": 80}]}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container]}}
    head: dict[str, Any] = {"metadata": {"name": "shop", "namespace": "shop"}}
    web = {"apiVersion": "apps/v1", "kind": "Deployment", **head, "spec": {"template": template}}
    spec = {"type": "LoadBalancer", "selector": {"a": "b"}, "ports": [{"port": 80}]}
    service = {"apiVersion": "v1", "kind": "Service", **head, "spec": spec}
    unbuilt = Unbuilt(images={NAME: made} if made else {})
    return Scene([KubeObject(web, document), KubeObject(service, document)], unbuilt=unbuilt)


def written(image: str) -> Document:
    """A file of a Kustomize folder that names an image, from which something was rendered."""
    text = f"image: {image}\n"
    file = SourceFile("app/web.yaml", text, origin=FileOrigin("web.yaml"), application="app")
    return Document(file, 0, len(text), 1)


def severities(scene: Scene) -> list[Severity | None]:
    return [answer.severity for answer in image_tag_moves.look(scene) if isinstance(answer, Gap)]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("", [None]),
        (f"{NAME}:1.2", []),
        (f"{NAME}@sha256:0123", []),
        ("mirror.example/web:main", [Severity.LOW]),
        (f"{NAME}:", [Severity.LOW]),
    ],
)
def test_what_a_kustomization_writes_counts(made: str, expected: list[Severity | None]) -> None:
    assert severities(scene(f"{NAME}:latest", made=made)) == expected


@pytest.mark.parametrize(
    ("origin", "rendered", "expected"),
    [
        (f"{NAME}:latest", f"{NAME}:latest", [None]),
        (f"{NAME}:latest", f"{NAME}:main", [Severity.LOW]),
        (f"{NAME}:latest", f"{NAME}:1.2", []),
    ],
)
def test_rendered_it_is_known_by_what_its_file_says(
    origin: str, rendered: str, expected: list[Severity | None]
) -> None:
    assert severities(scene(rendered, written(origin))) == expected


@pytest.mark.parametrize(
    ("image", "gone"),
    [("minio/minio", True), ("docker.io/minio/minio:latest", True), ("registry.example/minio/minio", False)],
)
def test_what_its_maker_has_taken_away_is_told_once(image: str, *, gone: bool) -> None:
    found = scene(image)
    assert (gone_image(image) is not None) is gone
    assert any(isinstance(answer, Gap) for answer in image_gone.look(found)) is gone
    assert any(isinstance(answer, Gap) for answer in image_tag_moves.look(found)) is not gone


def test_each_repository_that_is_gone_has_a_source() -> None:
    rows = yaml.safe_load(files("pilotage.checks").joinpath("data/gone_images.yaml").read_text("utf-8"))
    assert rows["images"]
    assert all(row["source"].startswith("https://") and row["what"] and row["fix"] for row in rows["images"])


@pytest.mark.parametrize(("made", "gone"), [("minio/minio:latest", True), (f"{NAME}:1.2", False)])
def test_the_image_counts_that_a_kustomization_writes(made: str, *, gone: bool) -> None:
    assert any(isinstance(answer, Gap) for answer in image_gone.look(scene(NAME, made=made))) is gone
