"""What REST answers: shapes, names, parts, links."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from fastapi.testclient import TestClient
from pydantic import BaseModel

from pilotage.library.stores.protocol import Store
from pilotage.web.api import models
from pilotage.web.api.start import Addresses
from rig.rest import DNS, HOSTILE, UNEVEN, WITHDRAWN, put, record

API = "/api/v1"
SHAPES: list[tuple[str, type[BaseModel]]] = [
    ("", Addresses),
    ("/incidents", models.Incidents),
    ("/incidents?extra=facets,terms&fields=title,org&component=coredns", models.Incidents),
    (f"/incidents/{DNS['id']}", models.Incident),
    (f"/incidents/{DNS['id']}?extra=related,history&extra=terms&fields=title,x_ours", models.Incident),
    (f"/incidents/{DNS['id']}/related", models.Related),
    (f"/incidents/{UNEVEN['id']}/history", models.History),
    ("/search?q=coredns+oom&extra=facets", models.SearchAnswer),
    ("/search?q=how+long+to+boil+an+egg", models.SearchAnswer),
    ("/search?facet=component:coredns&lang=ko", models.SearchAnswer),
    ("/topics?component=coredns", models.Topic),
    ("/topics", models.Topic),
    ("/vocabulary", models.Kinds),
    ("/vocabulary/components", models.Terms),
    ("/vocabulary/components/coredns", models.WholeTerm),
    ("/organisations", models.Organisations),
    ("/organisations/evil", models.Organisation),
    ("/statistics", models.Statistics),
    ("/statistics?year=2021", models.Statistics),
    ("/statistics/matrix?by=component&by=symptom", models.Matrix),
    ("/changes", models.Changes),
]


def get(client: TestClient, path: str, status: int = 200, **options: Any) -> Any:
    answer = client.get(path, **options)
    assert answer.status_code == status, answer.text
    return answer.json()


@pytest.mark.parametrize(("path", "shape"), SHAPES, ids=str)
def test_answers_have_the_described_shape(reader: TestClient, path: str, shape: type[BaseModel]) -> None:
    found = get(reader, API + path)
    record = found.get("record") if shape is models.Incident else None
    if record is not None:
        found["record"] = {"id": found["id"]}  # a record may hold keys that nobody described
    shape.model_validate(found, extra="forbid", strict=True)


def test_the_first_address_leads_to_all_others(reader: TestClient) -> None:
    paths = get(reader, API)
    assert get(reader, "/about/api.json") == paths
    for name in paths.keys() - {"mcp", "export"}:
        assert reader.get(paths[name]).status_code == 200, name


def test_description_lists_every_route_and_every_error(client: TestClient) -> None:
    described = get(client, f"{API}/openapi.json")
    assert described["openapi"].startswith("3.1")
    assert {path.partition("?")[0] for path, _ in SHAPES} <= {
        path.removeprefix(API).replace("{id}", DNS["id"]).replace("{kind}", "components")
        for path in described["paths"]
    } | {
        "/vocabulary/components/coredns",
        "/organisations/evil",
        f"/incidents/{UNEVEN['id']}/history",
    }
    for path, item in described["paths"].items():
        if path == f"{API}/checks/run":
            assert {"200", "400", "405", "413", "500", "503"} <= item["post"]["responses"].keys()
            assert "304" not in item["post"]["responses"]
            continue
        answers = item["get"]["responses"]
        assert {"200", "304", "400", "404", "405", "414", "500", "503"} <= set(answers), path
        assert "422" not in answers
        assert item["get"]["summary"], path
        for parameter in item["get"].get("parameters", []):
            assert parameter.get("description"), f"{path}: {parameter['name']}"
    assert "HTTPValidationError" not in described["components"]["schemas"]


def test_a_record_comes_as_it_was_imported(client: TestClient) -> None:
    found = get(client, f"{API}/incidents/{DNS['id']}")
    assert found["record"] == DNS
    assert found["revision"] == found["revisions"] == 1
    assert not found["private"]


def test_a_former_id_leads_to_the_one_in_force(client: TestClient) -> None:
    for tail, head in (("", API), ("/related", API), ("/history", API), (".json", "")):
        answer = client.get(f"{head}/incidents/old-coredns{tail}?lang=ko")
        assert answer.status_code == 308
        assert answer.headers["location"] == f"{head}/incidents/{DNS['id']}{tail}?lang=ko"
        assert client.get(answer.headers["location"]).status_code == 200


def test_a_withdrawn_record_says_so(client: TestClient) -> None:
    found = get(client, f"{API}/incidents/{WITHDRAWN['id']}")
    assert found["status"] == "withdrawn"
    assert found["withdrawn_reason"] == WITHDRAWN["withdrawn_reason"]
    listed = get(client, f"{API}/incidents")["items"]
    assert WITHDRAWN["id"] not in [item["id"] for item in listed]
    asked = get(client, f"{API}/incidents?status=withdrawn")["items"]
    assert [item["id"] for item in asked] == [WITHDRAWN["id"]]


def test_revisions_can_be_read(client: TestClient) -> None:
    history = get(client, f"{API}/incidents/{UNEVEN['id']}/history")["revisions"]
    assert [(item["number"], item["changed"]) for item in history] == [(2, ["severity"]), (1, [])]
    first = get(client, f"{API}/incidents/{UNEVEN['id']}?revision=1")
    assert (first["revision"], first["revisions"], first["record"]["severity"]) == (1, 2, "minor")
    assert get(client, f"/incidents/{UNEVEN['id']}/history/1.json") == first
    problem = get(client, f"{API}/incidents/{UNEVEN['id']}?revision=9", 404)
    assert "1 to 2" in problem["hint"]


def test_fields_and_extra(client: TestClient) -> None:
    item = get(client, f"{API}/incidents?fields=title,severity&extra=terms")["items"][-1]
    assert set(item["record"]) == {"title", "severity"}
    assert {"facet", "slug", "label"} == set(item["terms"][0])
    assert "facets" not in get(client, f"{API}/incidents?extra=terms")
    whole = get(client, f"{API}/incidents/{DNS['id']}?extra=related,history,terms")
    assert whole["related"]["hits"][0]["id"] == UNEVEN["id"]
    assert "related" not in get(client, f"{API}/incidents/{DNS['id']}")


def test_facets_in_every_spelling(client: TestClient) -> None:
    for query in ("component=coredns", "facet=component=coredns", "facet=component:CoreDNS", "facet=comp"):
        status = 400 if query == "facet=comp" else 200
        found = get(client, f"{API}/incidents?{query}", status)
        if status == 200:
            assert [item["id"] for item in found["items"]] == [DNS["id"]]
    assert get(client, f"{API}/incidents?component=coredns&component=ingress")["total"] == 0


def test_a_cursor_stays_right_while_records_are_added(client: TestClient, store: Store) -> None:
    first = client.get(f"{API}/incidents?limit=1")
    newer = record("acme-2024-01-01-new", "Newer", "새것", date="2024-01-01")
    put(store, [newer])
    link = first.headers["link"]
    assert link.endswith('>; rel="next"')
    rest = []
    path = link.partition(">")[0].removeprefix("<")
    while path:
        answer = client.get(path)
        rest += [item["id"] for item in answer.json()["items"]]
        path = answer.headers.get("link", "").partition(">")[0].removeprefix("<")
    assert [first.json()["items"][0]["id"], *rest] == [UNEVEN["id"], DNS["id"], HOSTILE["id"]]


def test_search_goes_on_by_cursor(client: TestClient) -> None:
    first = get(client, f"{API}/search?limit=2")
    assert first["total"] == 3
    last = get(client, f"{API}/search?limit=2&cursor={first['next']}")
    assert last["next"] is None
    assert len(last["hits"]) == 1


def test_language(client: TestClient) -> None:
    path = f"{API}/search?q=coredns"
    english = client.get(path)
    korean = client.get(path, headers={"accept-language": "ko-KR,en;q=0.5"})
    assert english.headers["content-language"] == "en"
    assert korean.headers["content-language"] == "ko"
    assert korean.json()["hits"][0]["title"] == DNS["title"]["ko"]
    assert english.headers["etag"] != korean.headers["etag"]
    assert client.get(f"{path}&lang=ko").json() == korean.json()
    client.cookies.set("lang", "ko")
    assert client.get(path).json() == korean.json()


def test_changes_feed(client: TestClient, store: Store) -> None:
    first = get(client, f"{API}/changes?limit=2")
    assert first["has_more"]
    rest = get(client, f"{API}/changes?since={first['next']}")
    assert not rest["has_more"]
    events = {item["id"]: item["event"] for item in first["items"] + rest["items"]}
    assert events == {
        DNS["id"]: "added",
        UNEVEN["id"]: "changed",
        HOSTILE["id"]: "added",
        WITHDRAWN["id"]: "withdrawn",
    }
    assert get(client, f"{API}/changes?since={rest['next']}") == {
        "items": [],
        "next": rest["next"],
        "has_more": False,
    }
    put(store, [DNS | {"severity": "minor"}])
    later = get(client, f"{API}/changes?since={rest['next']}")["items"]
    assert [(item["id"], item["revision"], item["event"]) for item in later] == [(DNS["id"], 2, "changed")]


def test_atom_feed_is_well_formed_whatever_records_hold(client: TestClient) -> None:
    answer = client.get(f"{API}/feed.atom")
    assert answer.headers["content-type"] == "application/atom+xml"
    names = {"a": "http://www.w3.org/2005/Atom"}
    entries = ET.fromstring(answer.content).findall("a:entry", names)
    assert len(entries) == 4
    titles = [entry.findtext("a:title", "", names) for entry in entries]
    assert any("<script>alert(1)</script> & ]]>" in title for title in titles)
    updated = [entry.findtext("a:updated", "", names) for entry in entries]
    assert updated == sorted(updated, reverse=True)
    links = [entry.find("a:link", names) for entry in entries]
    assert all(
        link is not None and link.attrib["href"].startswith("http://127.0.0.1:8000/") for link in links
    )


def test_exports(client: TestClient, tmp_path: Path) -> None:
    listed = get(client, f"{API}/export")
    assert {item["id"] for item in listed} == {item["id"] for item in (DNS, UNEVEN, HOSTILE, WITHDRAWN)}
    assert DNS in listed
    lines = client.get(f"{API}/export?format=jsonl&component=coredns")
    assert [json.loads(line) for line in lines.text.splitlines()] == [DNS]
    assert "incidents.jsonl" in lines.headers["content-disposition"]
    assert client.get(f"{API}/export?format=csv").text.startswith("\ufeffid,")
    with zipfile.ZipFile(BytesIO(client.get(f"{API}/export?format=zip").content)) as archive:
        assert f"records/{DNS['id']}.json" in archive.namelist()
    path = tmp_path / "out.db"
    path.write_bytes(client.get(f"{API}/export?format=sqlite").content)
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM incidents").fetchone() == (4,)
    db.close()
    assert "jsonl" in get(client, f"{API}/export?format=jsnl", 400)["hint"]


def test_the_schema_is_that_of_records(client: TestClient) -> None:
    answer = client.get(f"{API}/schema")
    assert answer.headers["content-type"] == "application/schema+json"
    assert answer.json()["$id"] == "urn:pilotage:schema:record:1"


def test_vocabulary(client: TestClient) -> None:
    kinds = get(client, f"{API}/vocabulary")["kinds"]
    assert {"kind": "components", "facet": "component"}.items() <= kinds[2].items()
    used = get(client, f"{API}/vocabulary/components?used=true")["terms"]
    assert {term["slug"]: term["records"] for term in used} == {"coredns": 1, "ingress": 1}
    term = get(client, f"{API}/vocabulary/components/coredns")
    assert [case["id"] for case in term["cases"]] == [DNS["id"]]
    assert "components" in get(client, f"{API}/vocabulary/componets", 404)["hint"]
    assert "coredns" in get(client, f"{API}/vocabulary/components/coredsn", 404)["hint"]


def test_organisations(client: TestClient) -> None:
    first = get(client, f"{API}/organisations?limit=1")
    assert (first["total"], first["items"][0]["slug"]) == (2, "acme")
    second = get(client, f"{API}/organisations?limit=1&cursor={first['next']}")
    assert (second["items"][0]["slug"], second["next"]) == ("evil", None)
    evil = get(client, f"{API}/organisations/evil")
    assert evil["label"]["en"] == "Evil & <Inc>"
    assert evil["records"] == 1
    assert "evil" in get(client, f"{API}/organisations/evli", 404)["hint"]


def test_pages_answer_as_json_too(client: TestClient) -> None:
    assert get(client, "/search.json?q=coredns")["facets"]
    assert get(client, f"/incidents/{DNS['id']}.json")["history"]["id"] == DNS["id"]
    both = get(client, f"/compare.json?id={DNS['id']}&id={UNEVEN['id']}")
    assert {"organisation"} <= {tag["facet"] for tag in both["shared"]}
    models.Comparison.model_validate(both)
    assert get(client, f"/compare.json?id={DNS['id']}", 400)["code"] == "invalid-input"
    for path in (
        "/index.json",
        "/incidents.json",
        "/topics.json?component=coredns",
        "/organisations.json",
        "/organisations/acme.json",
        "/vocabulary.json",
        "/vocabulary/components.json",
        "/vocabulary/components/coredns.json",
        "/statistics.json",
        "/about/api.json",
    ):
        assert get(client, path), path
