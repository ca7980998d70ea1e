"""Every command answers: as text and as JSON, in English and in Korean, on standard output only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .conftest import DNS, HOSTILE, PUBLIC, UNEVEN, WITHDRAWN, Cli

pytestmark = pytest.mark.usefixtures("store")

COMMANDS: dict[str, list[str]] = {
    "search": ["search", "coredns oom"],
    "search-facets": ["search", "--extra", "facets", "coredns"],
    "search-nothing": ["search", "how to boil an egg"],
    "search-empty": ["search", ""],
    "show": ["show", DNS["id"]],
    "show-mechanism": ["show", UNEVEN["id"]],
    "show-withdrawn": ["show", WITHDRAWN["id"]],
    "list": ["list"],
    "list-facet": ["list", "component=coredns"],
    "related": ["related", DNS["id"]],
    "related-reasons": ["related", DNS["id"], "--reasons"],
    "related-none": ["related", HOSTILE["id"]],
    "topic": ["topic", "component=coredns"],
    "vocab": ["vocab"],
    "vocab-kind": ["vocab", "components", "--used"],
    "vocab-term": ["vocab", "components", "coredns"],
    "stats": ["stats"],
    "stats-by": ["stats", "--by", "root_cause", "component"],
    "verify": ["verify"],
    "history": ["history", DNS["id"]],
    "history-diff": ["history", DNS["id"], "--diff"],
    "evaluate": ["evaluate", "queries.jsonl"],
    "import-dry": ["import", "one.json", "--dry-run"],
    "export-to": ["export", "--to", "out.json"],
    "validate": ["validate", "one.json"],
}


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    graded = {"query": "coredns oom", "lang": "en", "relevant": {"old-coredns": 3}, "kind": "symptom"}
    refused = {"query": "boil an egg", "lang": "en", "relevant": {}}
    lines = "".join(json.dumps(one) + "\n" for one in (graded, refused))
    (tmp_path / "queries.jsonl").write_text(lines, encoding="utf-8")
    one = {"id": "one-1", "title": {"en": "One thing broke", "ko": "하나가 고장"}, "components": ["core-dns"]}
    (tmp_path / "one.json").write_text(json.dumps(one), encoding="utf-8")


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("output", ["text", "json"])
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_answers(cli: Cli, name: str, output: str, lang: str) -> None:
    done = cli(*COMMANDS[name], "--output", output, "--lang", lang)
    assert done.code == (1 if name == "validate" else 0), done.err
    assert done.err == ""
    assert done.out.strip()
    assert done.out.endswith("\n")
    if output == "json":
        assert isinstance(done.json(), dict)


def test_search_has_the_promised_form(cli: Cli) -> None:
    answer = cli("search", "coredns oom", "--limit", "1", "--output", "json").json()
    assert {"query", "total", "no_good_match", "suggestions", "hits"} <= answer.keys()
    (hit,) = answer["hits"]
    wanted = {"id", "aliases", "organisation", "date", "title", "score", "why", "sources"}
    assert wanted <= hit.keys()
    assert hit["id"] == DNS["id"]
    assert hit["aliases"] == ["old-coredns"]
    assert hit["sources"] == [DNS["sources"][0]["url"]]


def test_search_says_when_nothing_is_good_enough(cli: Cli) -> None:
    answer = cli("search", "how to boil an egg", "-o", "json").json()
    assert answer["no_good_match"]
    assert answer["hits"] == []
    assert "No good match." in cli("search", "how to boil an egg").out
    assert "맞는 사례가 없습니다" in cli("search", "how to boil an egg", "--lang", "ko").out


def test_search_in_korean_and_by_pipe(cli: Cli) -> None:
    assert cli("search", "파드 강제 종료 메모리 부족", "-o", "json").json()["hits"][0]["id"] == DNS["id"]
    piped = cli("search", "-", "-o", "json", stdin=b"\xff\xfe coredns OOMKilled\n")
    assert piped.json()["hits"][0]["id"] == DNS["id"]


def test_empty_query_lists_all_but_withdrawn_newest_first(cli: Cli) -> None:
    answer = cli("search", "", "-o", "json").json()
    assert [hit["id"] for hit in answer["hits"]] == [UNEVEN["id"], DNS["id"], HOSTILE["id"]]


def test_facets_narrow_the_search(cli: Cli) -> None:
    answer = cli("search", "", "-f", "component=coredns", "-o", "json").json()
    assert [hit["id"] for hit in answer["hits"]] == [DNS["id"]]


@pytest.mark.parametrize("command", ["list", "topic", "stats"])
def test_a_term_is_an_argument_or_an_option(cli: Cli, command: str) -> None:
    terms = ["component=coredns", "year=2021"]
    both = cli(command, *terms, "-o", "json").json()
    assert cli(command, "-f", terms[0], "--facet", terms[1], "-o", "json").json() == both
    assert cli(command, terms[0], "-f", terms[1], "-o", "json").json() == both
    assert cli(command, terms[0], "-o", "json").json()


def test_list_pages_to_the_end(cli: Cli) -> None:
    seen: list[str] = []
    after: list[str] = []
    for _ in range(10):
        page = cli("list", "--limit", "1", *after, "-o", "json").json()
        assert page["total"] == 3
        seen += [item["id"] for item in page["items"]]
        if page["next"] is None:
            break
        after = ["--cursor", page["next"]]
    assert seen == [UNEVEN["id"], DNS["id"], HOSTILE["id"]]
    assert cli("list", "--limit", "3", "-o", "json").json()["next"] is None
    assert "more: --cursor" in cli("list", "--limit", "2").out


def test_list_shows_withdrawn_only_when_asked(cli: Cli) -> None:
    assert WITHDRAWN["id"] not in cli("list").out
    assert WITHDRAWN["id"] in cli("list", "status=withdrawn").out


def test_show_resolves_an_alias_and_keeps_every_value(cli: Cli) -> None:
    shown = cli("show", "old-coredns", "--output", "json").json()
    assert shown == DNS
    assert shown["x_ours"]["big"] == DNS["x_ours"]["big"]


def test_show_speaks_the_language(cli: Cli) -> None:
    assert "Cluster lost DNS" in cli("show", DNS["id"]).out
    assert "클러스터 DNS 중단" in cli("show", DNS["id"], "--lang", "ko").out
    assert "It was another incident." in cli("show", WITHDRAWN["id"]).out


def test_language_comes_from_setting_and_locale(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANG", "ko_KR.UTF-8")
    assert "교훈" in cli("show", DNS["id"]).out
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    assert "Lessons" in cli("show", DNS["id"]).out
    monkeypatch.setenv("PILOTAGE_LANG", "ko")
    assert "교훈" in cli("show", DNS["id"]).out
    assert "Lessons" in cli("show", DNS["id"], "--lang", "en").out


def test_old_revisions_stay_readable(cli: Cli, tmp_path: Path) -> None:
    changed = DNS | {"severity": "critical"}
    (tmp_path / "changed.json").write_text(json.dumps(changed), encoding="utf-8")
    assert "1 changed" in cli("import", "changed.json").out
    assert cli("show", DNS["id"], "-o", "json").json() == changed
    assert cli("show", DNS["id"], "--revision", "1", "-o", "json").json() == DNS
    assert [r["number"] for r in cli("history", "old-coredns", "-o", "json").json()["revisions"]] == [2, 1]
    diff = cli("history", DNS["id"], "--diff").out
    assert '-  "severity": "major"'.replace("  ", " ") in diff.replace("  ", " ")
    assert '+ "severity": "critical"' in diff.replace("  ", " ")
    missing = cli("show", DNS["id"], "--revision", "3")
    assert missing.code == 2
    assert "It has 1 to 2." in missing.err


def test_related_puts_links_made_by_hand_first(cli: Cli) -> None:
    answer = cli("related", "old-coredns", "-o", "json").json()
    assert answer["hits"][0]["id"] == UNEVEN["id"]
    assert answer["hits"][0]["hand_made"]
    assert "[by hand]" in cli("related", DNS["id"]).out
    assert "Same cluster." in cli("related", DNS["id"], "--reasons").out


def test_topic_and_statistics_count(cli: Cli) -> None:
    assert cli("topic", "component=coredns", "-o", "json").json()["total"] == 1
    assert cli("stats", "-o", "json").json()["records"] == 3
    assert cli("stats", "component=coredns", "-o", "json").json()["records"] == 1
    matrix = cli("stats", "--by", "root-cause", "component", "-o", "json").json()
    assert matrix["total"] in {2, 3}


def test_vocabulary_finds_a_term_by_any_of_its_names(cli: Cli) -> None:
    (term,) = cli("vocab", "component", "로드밸런서", "-o", "json").json()["terms"]
    assert term["slug"] == "load-balancer"
    used = cli("vocab", "components", "--used", "-o", "json").json()["terms"]
    assert {item["slug"]: item["records"] for item in used} == {"coredns": 1, "ingress": 1}


def test_vocabulary_kinds_need_no_store(cli: Cli) -> None:
    assert cli("vocab", "--store", "nowhere.db").code == 0


def test_verify_finds_nothing_wrong(cli: Cli) -> None:
    assert cli("verify", "-o", "json").json() == {"ok": True, "records": 4, "problems": []}
    assert cli("verify").out == "4 records: all is well\n"


def test_evaluate_scores(cli: Cli) -> None:
    overall = cli("evaluate", "queries.jsonl", "-o", "json").json()["overall"]
    assert overall["ndcg_at_10"] == 1.0
    assert overall["correct_refusals"] == 1.0


def test_new_then_validate_then_import(cli: Cli, tmp_path: Path) -> None:
    done = cli("new", "acme-2024-05-01-new", "-o", "json")
    assert done.json() == {"id": "acme-2024-05-01-new", "file": "acme-2024-05-01-new.yaml"}
    text = (tmp_path / "acme-2024-05-01-new.yaml").read_text("utf-8")
    assert cli("new", "acme-2024-05-01-new", "--to", "-").out == text
    assert cli("import", "acme-2024-05-01-new.yaml", "-o", "json").json()["new"] == 1
    again = cli("new", "acme-2024-05-01-new")
    assert again.code == 2
    assert "is there already" in again.err
    assert (tmp_path / "acme-2024-05-01-new.yaml").read_text("utf-8") == text


def test_validate_says_where_and_what_instead(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("id: acme-1\nstatus: finished\norg: Acme\n", encoding="utf-8")
    done = cli("validate", "bad.yaml")
    assert done.code == 1
    assert done.out.startswith("bad.yaml:2:1: status: ")
    assert "reviewed" in done.out
    answer: dict[str, Any] = cli("validate", "bad.yaml", "-o", "json").json()
    assert not answer["ok"]
    assert answer["problems"][0]["line"] == 2
    (tmp_path / "good.yaml").write_text("id: acme-1\nstatus: draft\norg: Acme\n", encoding="utf-8")
    good = cli("validate", "good.yaml")
    assert (good.code, good.out) == (0, "no problems\n")


def test_validate_holds_reviewed_records_to_the_editorial_rules(cli: Cli, tmp_path: Path) -> None:
    text = "id: acme-1\nstatus: reviewed\ntitle: {en: Down for 73 hours, ko: 73시간 중단}\nfacts: []\n"
    (tmp_path / "thin.yaml").write_text(text, encoding="utf-8")
    done = cli("validate", "thin.yaml", "--editorial")
    assert done.code == 1
    assert "73" in done.out


def test_nothing_of_a_record_drives_the_terminal(cli: Cli) -> None:
    for arguments in (
        ["list"],
        ["search", ""],
        ["search", "gremlins"],
        ["show", HOSTILE["id"]],
        ["related", HOSTILE["id"]],
        ["topic", "org=evil"],
        ["history", HOSTILE["id"], "--diff"],
        ["stats"],
    ):
        for output in ("text", "json"):
            for lang in ("en", "ko"):
                out = cli(*arguments, "--output", output, "--lang", lang).out
                assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(out), (arguments, output)
    assert "[bold]x[/bold]" in cli("show", HOSTILE["id"]).out
    assert cli("show", HOSTILE["id"], "-o", "json").json() == HOSTILE
    refused = cli("show", "\x1b[31mno")
    assert "\x1b" not in refused.err


def test_export_then_import_gives_equal_values(cli: Cli) -> None:
    for format_ in ("incident-json", "jsonl", "zip"):
        exported = cli("export", "--format", format_)
        assert exported.code == 0
        done = cli("import", "-", "--store", f"{format_}.db", stdin=exported.raw)
        assert done.code == 0, done.err
        for document in PUBLIC:
            assert cli("show", document["id"], "-o", "json", "--store", f"{format_}.db").json() == document
        again = cli("import", "-", "--store", f"{format_}.db", "-o", "json", stdin=exported.raw).json()
        assert (again["new"], again["changed"], again["unchanged"]) == (0, 0, len(PUBLIC))


def test_statistics_of_one_record_read_as_one(cli: Cli) -> None:
    told = cli("stats", "component=coredns").out
    assert told.startswith("1 record, ")
    assert "1 organisation\n" in told


@pytest.mark.parametrize("command", [["search", "coredns dns zone"], ["list"], ["topic", "year=2021"]])
def test_every_list_goes_on_by_its_cursor(cli: Cli, command: list[str]) -> None:
    items = {"search": "hits", "list": "items", "topic": "cases"}[command[0]]
    whole = cli(*command, "--limit", "50", "-o", "json").json()
    seen, cursor = [], []
    while True:
        part = cli(*command, "--limit", "1", *cursor, "-o", "json").json()
        seen += [item["id"] for item in part[items]]
        assert part["total"] == whole["total"]
        if part["next"] is None:
            break
        cursor = ["--cursor", part["next"]]
    assert seen == [item["id"] for item in whole[items]]
    wrong = cli("search", "another question", "--cursor", "zz")
    assert (wrong.code, "is no cursor" in wrong.err) == (2, True)
