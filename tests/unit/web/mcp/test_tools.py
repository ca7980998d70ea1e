"""Every tool: its answer, its errors, its pages."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.server.mcpserver import MCPServer

from pilotage.core.errors import StoreCorrupt
from pilotage.core.settings import Settings
from pilotage.library.catalogue import Catalogue
from pilotage.web.mcp.server import make_server
from pilotage.web.mcp.tooling import message_of
from rig.mcp_library import COREDNS_ID, HOSTILE_ID, PUBLIC, answer_of, ask, talk, text_of

CURRENT = {document["id"] for document in PUBLIC if document["status"] != "withdrawn"}
INGRESS = {document["id"] for document in PUBLIC if "ingress" in document.get("components", [])}
PAGED: list[tuple[str, dict[str, Any]]] = [
    ("search_incidents", {"q": "component:ingress"}),
    ("list_incidents", {"facet": ["component=ingress"]}),
    ("get_topic", {"facet": ["component=ingress"]}),
    ("related_incidents", {"id": "acme-2018-01-01-retry-storm-00"}),
]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_both_eras_speak_to_it(server: MCPServer, mode: str) -> None:
    async def look(client: Client) -> tuple[str, list[str]]:
        return client.protocol_version, [tool.name for tool in (await client.list_tools()).tools]

    version, names = talk(server, look, mode)
    assert version == ("2026-07-28" if mode == "auto" else "2025-11-25")
    assert names == [
        "search_incidents",
        "get_incident",
        "list_incidents",
        "related_incidents",
        "get_topic",
        "vocab",
        "list_checks",
        "explain_check",
        "check_manifests",
    ]


def test_search_says_why(server: MCPServer) -> None:
    found = answer_of(ask(server, "search_incidents", q="coredns killed for memory"))
    first = found["items"][0]
    assert first["id"] == COREDNS_ID
    assert first["date"] == "2021-03-01"
    assert "CoreDNS" in first["report"]["matched"]
    assert not found["no_good_match"]
    assert "summary" not in first["report"]


def test_detailed_search_has_more_of_each_hit(server: MCPServer) -> None:
    found = answer_of(
        ask(server, "search_incidents", q="coredns killed", lang="ko", response_format="detailed")
    )
    report = found["items"][0]["report"]
    assert report["summary"] == "CoreDNS 파드가 강제 종료되었다."
    assert report["tags"]["component"] == ["coredns"]
    assert report["sources"] == [f"https://example.com/{COREDNS_ID}"]
    assert found["facet_counts"]["component"][0]["count"] >= 1


def test_no_good_match_is_an_answer(server: MCPServer) -> None:
    found = answer_of(ask(server, "search_incidents", q="a recipe for tomato soup"))
    assert found["no_good_match"] is True
    assert found["items"] == []
    assert found["total"] == found["shown"] == 0
    assert "rather than guess" in found["note"]


def test_list_in_order_and_with_filters(server: MCPServer) -> None:
    found = answer_of(ask(server, "list_incidents", facet="component=Ingress controller", limit=50))
    assert {item["id"] for item in found["items"]} == INGRESS
    assert found["filters"] == [{"facet": "component", "slug": "ingress", "label": "Ingress controller"}]
    dates = [item["date"] for item in found["items"]]
    assert dates == sorted(dates, reverse=True)
    nothing = answer_of(ask(server, "list_incidents", facet=["component=coredns", "component=ingress"]))
    assert nothing["total"] == 0
    assert "leave one out" in nothing["note"]


def test_incident_concise_and_detailed(server: MCPServer) -> None:
    concise = answer_of(ask(server, "get_incident", id="old-coredns"))
    assert concise["id"] == COREDNS_ID
    assert concise["alias"] == "old-coredns"
    assert set(concise["report"]) == {"overview", "tags", "timing", "remediation", "lessons", "sources"}
    assert concise["not_stated"] == ["severity"]
    detailed = answer_of(ask(server, "get_incident", id=COREDNS_ID, response_format="detailed"))
    assert detailed["report"]["mechanism"][0]["leads_to"] == ["oom"]
    related = detailed["report"]["related"][0]
    assert related["id"] == HOSTILE_ID
    assert "linked" in related["why"]
    some = answer_of(ask(server, "get_incident", id=COREDNS_ID, sections="lessons", lang="ko"))
    assert some["report"] == {"lessons": "DNS에 여유를 두고 확인한다."}


def test_a_withdrawn_incident_says_so(server: MCPServer) -> None:
    found = answer_of(ask(server, "get_incident", id="acme-2019-01-01-retold"))
    assert found["status"] == "withdrawn"
    assert found["report"]["overview"]["withdrawn_reason"] == "It was another incident."
    listed = answer_of(ask(server, "list_incidents", limit=50))
    assert {item["id"] for item in listed["items"]} == CURRENT
    assert listed["total"] == len(CURRENT)


def test_related_says_why(server: MCPServer) -> None:
    found = answer_of(ask(server, "related_incidents", id=COREDNS_ID, response_format="detailed"))
    first = found["items"][0]
    assert first["hand_made"] is True
    assert first["report"]["reasons"][0]["text"].endswith("Same cluster.")
    assert abs(sum(reason["weight"] for reason in first["report"]["reasons"]) - first["score"]) < 0.001


def test_topic_counts_and_compares(server: MCPServer) -> None:
    found = answer_of(
        ask(server, "get_topic", facet=["component:ingress"], response_format="detailed", limit=3)
    )
    assert (found["total"], found["base"]) == (len(INGRESS), len(CURRENT))
    contributing = found["companions"]["contributing"][0]
    assert (contributing["slug"], contributing["n"], contributing["of"]) == ("retry-storm", 24, 25)
    assert found["report"]["lessons"]
    later = answer_of(ask(server, "get_topic", facet=["component:ingress"], limit=3, cursor=found["next"]))
    assert "companions" not in later


def test_vocab_has_a_cut_off(server: MCPServer) -> None:
    kinds = answer_of(ask(server, "vocab"))
    assert {kind["facet"] for kind in kinds["kinds"]} >= {"component", "root_cause"}
    found = answer_of(ask(server, "vocab", q="corends"))
    assert found["terms"][0]["slug"] == "coredns"
    assert 0.8 <= found["terms"][0]["similarity"] < 1
    assert found["terms"][0]["incidents"] == 1
    korean = answer_of(ask(server, "vocab", kind="component", q="인그레스", lang="ko"))
    assert korean["terms"][0]["slug"] == "ingress"
    nothing = answer_of(ask(server, "vocab", q="qwertyuiop"))
    assert nothing["no_good_match"] is True
    assert nothing["terms"] == []


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("search_incidents", {"q": "dns", "facet": ["component=corends"]}, "Did you mean 'coredns'?"),
        ("search_incidents", {"q": "dns", "facet": ["componnt=coredns"]}, "component"),
        ("search_incidents", {"q": "dns", "facet": ["coredns"]}, "facet=value"),
        ("search_incidents", {"q": "  "}, "list_incidents"),
        ("search_incidents", {"q": "dns", "facets": ["component=coredns"]}, "Did you mean 'facet'?"),
        ("search_incidents", {"q": "dns", "limit": 500}, "limit"),
        ("search_incidents", {}, "q"),
        ("search_incidents", {"q": "component:corends"}, "coredns"),
        ("list_incidents", {"cursor": "nonsense"}, "cursor"),
        ("get_incident", {"id": "acme-2021-coredns-oom"}, f"Did you mean '{COREDNS_ID}'"),
        ("get_incident", {"id": COREDNS_ID, "sections": ["mechanisms"]}, "'mechanism'"),
        ("get_incident", {"id": COREDNS_ID, "sections": ["mechanisms"]}, "nearest: mechanism"),
        ("related_incidents", {"id": COREDNS_ID[:-1]}, f"Did you mean '{COREDNS_ID}'"),
        ("get_topic", {"facet": []}, "facet"),
        ("get_topic", {"facet": ["root_cause=sofwtare-buq"]}, "software-bug"),
        ("vocab", {"kind": "componets"}, "components"),
        ("vocab", {"kind": "components", "lang": "fr"}, "'en' or 'ko'"),
        ("vocab", {"limit": "ten"}, "limit must be a whole number"),
        ("vocab", {"limit": 51}, "limit must be at most 50"),
        ("vocab", {"q": 3}, "q must be text"),
        ("get_topic", {}, "facet is missing"),
        ("get_incident", {"id": "x" * 201}, "id may have at most 200 characters"),
        ("list_incidents", {"facet": ["year=2019"] * 9}, "facet may have at most 8 items, not 9"),
        ("list_incidents", {"facet": {"year": 2019}}, "facet must be a list"),
        ("nope", {}, "there is no tool 'nope'. Known are: "),
        ("search_incident", {}, "Did you mean 'search_incidents'"),
    ],
)
def test_errors_say_what_to_do(server: MCPServer, tool: str, arguments: dict[str, Any], words: str) -> None:
    result = ask(server, tool, **arguments)
    assert result.is_error
    assert words in text_of(result)
    assert "Traceback" not in text_of(result)
    assert "pydantic" not in text_of(result)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda client: client.get_prompt("triage", {}), "Did you mean 'triage_symptom'?"),
        (lambda client: client.get_prompt("triage_symptom", {}), "the argument 'symptom' is missing"),
        (lambda client: client.get_prompt("triage_symptom", {"sympton": "x"}), "Did you mean 'symptom'?"),
        (
            lambda client: client.read_resource("file:///etc/passwd"),
            "Addresses are incident://{id}, vocab://",
        ),
        (lambda client: client.read_resource("incident://nope"), "no record 'nope'"),
    ],
)
def test_prompts_and_resources_say_it_too(server: MCPServer, call: Any, words: str) -> None:
    async def refused(client: Client) -> str:
        with pytest.raises(MCPError) as caught:
            await call(client)
        return caught.value.message

    assert words in talk(server, refused)


@pytest.mark.parametrize(
    ("tool", "arguments"), PAGED, ids=lambda value: value if isinstance(value, str) else ""
)
@pytest.mark.parametrize("max_tokens", [1000, 6000])
def test_pages_to_the_end(server: MCPServer, tool: str, arguments: dict[str, Any], max_tokens: int) -> None:
    async def walk(client: Client) -> tuple[list[str], int]:
        seen: list[str] = []
        cursor, total = None, 0
        for _ in range(60):
            page = answer_of(
                await client.call_tool(
                    tool, {**arguments, "limit": 7, "cursor": cursor, "max_tokens": max_tokens}
                )
            )
            seen += [item["id"] for item in page["items"]]
            cursor, total = page.get("next"), page["total"]
            assert page["has_more"] == (cursor is not None)
            if cursor is None:
                return seen, total
        raise AssertionError("it never ends")

    seen, total = talk(server, walk)
    assert len(seen) == len(set(seen)) == total > 7


def test_a_cursor_belongs_to_its_question(server: MCPServer) -> None:
    first = answer_of(ask(server, "get_topic", facet=["component=ingress"], limit=3))
    other = ask(server, "get_topic", facet=["component=coredns"], cursor=first["next"])
    assert other.is_error
    assert "another question" in text_of(other)


def test_the_language_of_the_server_is_the_default(catalogue: Catalogue) -> None:
    found = answer_of(ask(make_server(Settings(lang="ko"), catalogue), "get_incident", id=COREDNS_ID))
    assert found["report"]["lessons"] == "DNS에 여유를 두고 확인한다."


class _Broken(Catalogue):
    """A catalogue whose store fails."""

    def stored(self, *_: Any, **__: Any) -> Any:
        raise StoreCorrupt("the store /srv/secret/library.db is damaged", hint="Run verify.")

    def tags(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("a fault at /srv/secret")


def test_a_failing_store_says_little_to_the_agent(catalogue: Catalogue) -> None:
    server = make_server(Settings(), _Broken(catalogue.store))
    result = ask(server, "get_topic", facet=["component=ingress"])
    assert result.is_error
    assert text_of(result) == "Error executing tool get_topic"
    foreseen = ask(server, "get_incident", id=COREDNS_ID)
    assert foreseen.is_error
    assert text_of(foreseen) == message_of(StoreCorrupt("x"))
    assert "store-corrupt" in text_of(foreseen)


def test_a_megabyte_of_query_and_broken_text(server: MCPServer) -> None:
    assert not ask(server, "search_incidents", q="coredns oom " * 80_000).is_error
    assert ask(server, "list_incidents", facet=["year=2019"] * 10_000).is_error


def test_the_result_is_compact(server: MCPServer) -> None:
    text = text_of(ask(server, "get_incident", id=COREDNS_ID))
    assert json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":")) == text
    assert "null" not in text
