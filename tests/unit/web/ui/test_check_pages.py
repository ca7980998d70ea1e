"""The pages of checks: what they show, what they refuse, that nothing pasted becomes part of a page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from fastapi.testclient import TestClient

from pilotage.library.stores.opening import open_store
from rig.rest import client_of, fill, make_app

HTML = {"accept": "text/html"}
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: '<script>alert(1)</script>'}\nspec: {containers: []}\n"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    path: Path = tmp_path_factory.mktemp("checks") / "library.db"
    fill(str(path))
    store = open_store(str(path))
    with structlog.testing.capture_logs(), client_of(make_app(store)) as client:
        yield client
    store.close()


def test_the_list_and_a_check(pages: TestClient) -> None:
    assert "webhook-fail-catch-all" in pages.get("/checks?q=webhook&severity=critical", headers=HTML).text
    korean = pages.get("/checks/webhook-fail-catch-all?lang=ko", headers=HTML).text
    assert "하는 일" in korean
    assert "점검의 글은 영어" in korean
    missing = pages.get("/checks/webhook-fail-catch-al", headers=HTML)
    assert missing.status_code == 404
    assert "webhook-fail-catch-all" in missing.text


def test_a_pasted_text_is_text(pages: TestClient) -> None:
    found = pages.post("/checks/try", data={"text": POD, "name": "a.yaml"}, headers=HTML)
    assert found.status_code == 200
    assert "<script>alert" not in found.text
    assert "&lt;script&gt;alert" in found.text
    assert "etag" not in found.headers


@pytest.mark.parametrize(
    ("text", "status"), [("", 400), ("x" * 1_100_000, 413), ("---\n" * 600, 413), ("x" * 3_200_000, 413)]
)
def test_what_the_form_refuses(pages: TestClient, text: str, status: int) -> None:
    assert pages.post("/checks/try", data={"text": text}, headers=HTML).status_code == status
