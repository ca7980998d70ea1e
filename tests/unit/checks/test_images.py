"""The image that Kustomize writes counts, rendered or not."""

from __future__ import annotations

from typing import Any

import pytest

from pilotage.checks.families.images import image_tag_moves
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
