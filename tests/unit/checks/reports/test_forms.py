"""Every form of a report: what it must hold, and what a manifest cannot do to it."""

from __future__ import annotations

import gzip
import itertools
import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import msgspec
import pytest

from pilotage.checks.model import Severity
from pilotage.checks.objects import Place
from pilotage.checks.report import Report
from pilotage.checks.reports import as_github, as_html, as_json, as_junit, as_markdown, as_sarif, as_text
from pilotage.checks.reports.schema import FILE, report_schema, schema_text
from pilotage.checks.reports.words import WORDS
from rig import published_schemas
from rig.reports import empty_report, full_report, incidents

FORMS = {
    "text": as_text, "json": as_json, "sarif": as_sarif, "junit": as_junit,
    "github": as_github, "markdown": as_markdown, "html": as_html,
}  # fmt: skip


@pytest.fixture(scope="module")
def report() -> Report:
    return full_report()


def test_the_report_has_one_of_everything(report: Report) -> None:
    assert report.findings
    assert {one.by_rule for one in report.ignored} == {True, False}
    assert report.unknown
    assert report.idle_ignores
    assert report.idle_rules
    assert {one.grave for one in report.problems} == {True, False}


@pytest.mark.parametrize("form", FORMS)
def test_no_form_can_drive_a_terminal_or_hold_a_script(form: str, report: Report) -> None:
    text = FORMS[form].render(report, incidents(report))
    assert "\x1b" not in text
    assert "\u202e" not in text
    if form in {"html", "junit"}:
        assert "<script" not in text


@pytest.mark.parametrize("form", FORMS)
def test_an_empty_report_has_every_form(form: str, tmp_path: Path) -> None:
    report = empty_report(tmp_path)
    text = FORMS[form].render(report, incidents(report))
    assert text.endswith("\n")
    if form in {"text", "github", "markdown", "html"}:
        assert "nothing was checked" in text


def test_text_tells_everything_that_is_not_a_finding(report: Report) -> None:
    text = as_text.render(report, incidents(report))
    assert "not read  deploy/b.yaml:3:1" in text
    assert "idle      pilotage.toml:9: rule (cronjobs, names nobody): it means nothing" in text
    assert "ignore[no-such-check]" in text
    last = text.splitlines()[-3:]
    assert re.search(r"^\d+ findings: .*\d+ critical", last[0])
    for words in ("could not be looked at", "do not apply", "ignored"):
        assert words in last[1]


def test_korean_words_and_incidents(report: Report) -> None:
    for form in (as_text, as_markdown, as_html):
        english = form.render(report, incidents(report))
        korean = form.render(report, incidents(report, "ko"), lang="ko")
        assert not re.search("[가-힣]", english)
        assert "발견 사항" in korean
        assert "치명적" in korean or "높음" in korean
        assert " findings:" not in korean
    assert "조치    " in as_text.render(report, incidents(report, "ko"), lang="ko")


@pytest.mark.parametrize("key", WORDS)
def test_both_languages_have_the_same_places_for_values(key: str) -> None:
    english, korean = WORDS[key]
    assert english.count("{}") == korean.count("{}")
    assert re.search("[가-힣]", korean)


def test_json_is_as_its_schema_says(report: Report, tmp_path: Path) -> None:
    for one in (report, empty_report(tmp_path)):
        document = json.loads(as_json.render(one, incidents(one)))
        jsonschema.Draft202012Validator(report_schema()).validate(document)
    wrong = json.loads(as_json.render(report, incidents(report)))
    wrong["findings"][0]["severity"] = "dire"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(report_schema()).validate(wrong)


def test_the_schema_that_is_shipped_is_that_of_the_types() -> None:
    shipped = Path(as_json.__file__).with_name(FILE).read_text("utf-8")
    assert shipped == schema_text()


def test_every_key_of_the_schema_is_explained() -> None:
    def explained(part: object) -> None:
        if isinstance(part, dict):
            for key, value in part.get("properties", {}).items():
                assert "description" in value or "$ref" in value, key
            for value in part.values():
                explained(value)

    explained(report_schema())


@pytest.mark.real
def test_sarif_is_as_its_schema_says(report: Report, tmp_path: Path) -> None:
    validator = jsonschema.Draft7Validator(published_schemas.sarif())
    for one in (report, empty_report(tmp_path)):
        validator.validate(json.loads(as_sarif.render(one, incidents(one))))
    wrong = json.loads(as_sarif.render(report, incidents(report)))
    wrong["runs"][0]["results"][0]["level"] = "dire"
    assert list(validator.iter_errors(wrong))


def test_sarif_holds_rules_places_and_suppressions(report: Report) -> None:
    (log,) = json.loads(as_sarif.render(report, incidents(report)))["runs"]
    rules = log["tool"]["driver"]["rules"]
    assert all(rule["help"]["text"] and rule["helpUri"].startswith("http") for rule in rules)
    seen: dict[str, int] = {}
    for result in log["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        place = result["locations"][0]["physicalLocation"]
        assert not place["artifactLocation"]["uri"].startswith(("/", "file:"))
        assert " " not in place["artifactLocation"]["uri"]
        assert place["region"]["startLine"] > 0
        (mark,) = result["partialFingerprints"].values()
        seen[mark] = seen.get(mark, 0) + 1
    assert len(seen) > 3
    kinds = {one["kind"] for result in log["results"] for one in result.get("suppressions", [])}
    assert kinds == {"inSource", "external"}
    assert log["invocations"][0]["executionSuccessful"] is False


def test_sarif_keeps_within_what_code_scanning_takes(report: Report) -> None:
    (log,) = json.loads(as_sarif.render(report, incidents(report)))["runs"]
    for rule in log["tool"]["driver"]["rules"]:
        assert len(rule["shortDescription"]["text"]) <= 1024
        assert len(rule["fullDescription"]["text"]) <= 1024
        assert len(rule["name"]) <= 255
        assert len(rule["properties"]["tags"]) <= 10
        assert rule["help"]["markdown"].startswith("## What it does")
        assert "security-severity" not in rule["properties"]
    for result in log["results"]:
        (location,) = result["locations"]
        assert location["physicalLocation"]["artifactLocation"]["uriBaseId"] in log["originalUriBaseIds"]
        assert len(result.get("relatedLocations", [])) <= 100


def test_sarif_of_a_great_many_findings_is_one_that_code_scanning_takes(report: Report) -> None:
    many = [
        msgspec.structs.replace(one, subject=f"Deployment shop/web-{number}", fingerprint=f"{number:032x}")
        for number, one in zip(range(1000), itertools.cycle(report.findings), strict=False)
    ]
    text = as_sarif.render(msgspec.structs.replace(report, findings=many), incidents(report), limit=980)
    (log,) = json.loads(text)["runs"]
    assert as_sarif.MOST_RESULTS == 25_000
    assert len(log["results"]) == 980
    assert len(gzip.compress(text.encode(), 6)) / 980 < 10_000_000 / 25_000
    told = [one["message"]["text"] for one in log["invocations"][0]["toolExecutionNotifications"]]
    assert told[-1].startswith(f"{20 + len(report.ignored)} results of low rank are left out")
    most = {one["ruleId"] for one in log["results"] if one["rank"] == 95.0}
    assert {one.check for one in many if one.severity is Severity.CRITICAL} == most


def test_a_file_without_a_line_stands_at_its_first(report: Report) -> None:
    one = msgspec.structs.replace(report.findings[0], place=Place("deploy/a.yaml"))
    (log,) = json.loads(as_sarif.render(msgspec.structs.replace(report, findings=[one]), incidents(report)))[
        "runs"
    ]
    place = log["results"][0]["locations"][0]["physicalLocation"]
    assert place["region"] == {"startLine": 1}


@pytest.mark.real
def test_junit_is_as_the_schema_of_jenkins_says(report: Report, tmp_path: Path) -> None:
    schema = published_schemas.junit()
    for one in (report, empty_report(tmp_path)):
        schema.validate(as_junit.render(one, incidents(one)))
    wrong = as_junit.render(report, incidents(report)).replace("<testcase ", '<testcase file="a.yaml" ', 1)
    assert not schema.is_valid(wrong)


def test_junit_counts_what_it_holds(report: Report) -> None:
    root = ET.fromstring(as_junit.render(report, incidents(report)))
    for suite in root:
        assert int(suite.get("tests", "0")) == len(suite) > 0
        for kind, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            assert int(suite.get(name, "0")) == len(suite.findall(f"testcase/{kind}"))
    for name in ("tests", "failures", "errors"):
        assert int(root.get(name, "")) == sum(int(suite.get(name, "")) for suite in root)
    assert int(root.get("failures", "0")) == len(report.findings)
    places = [str(one.text).split("\n")[0] for one in root.iter("failure")]
    assert sorted(places) == sorted(str(one.place) for one in report.findings)


def test_github_escapes_as_its_documentation_says(report: Report) -> None:
    lines = as_github.render(report, incidents(report)).splitlines()
    assert len(lines) == len(report.findings) + len(report.problems) + 1
    command = re.compile(r"::(error|warning|notice) (?:(?:file|line|col|title)=[^,:\r\n]*,?)+::[^\r\n]*")
    for line in lines[:-1]:
        assert command.fullmatch(line), line
    assert any("file=deploy/with space%2C.yaml," in line for line in lines)
    assert "%0AFix: " in lines[0]
    assert any("%250A" in line for line in lines)
    assert not lines[-1].startswith("::")


def test_markdown_is_bounded(report: Report) -> None:
    whole = as_markdown.render(report, incidents(report))
    assert whole.count("#### ") == len(report.findings)
    for limit in (500, 1500, 3000):
        text = as_markdown.render(report, incidents(report), limit=limit)
        assert len(text) <= limit
        assert text.startswith("### Pilotage: ")
        assert "more are not shown" in text


def test_markdown_keeps_what_others_wrote_harmless(report: Report) -> None:
    text = as_markdown.render(report, incidents(report))
    outside = re.sub(r"`[^`\n]*`", "", text).replace("<sub>", "").replace("</sub>", "")
    assert not re.search(r"(?<!\\)[<>]", outside)


def test_html_is_one_file_that_fetches_nothing(report: Report) -> None:
    text = as_html.render(report, incidents(report))
    assert "default-src 'none'" in text
    assert not re.search(r"<(script|link|img|iframe|object)\b|\bsrc=|url\(|@import", text)
    assert text.count('<li class="finding ') == len(report.findings)
    for one in report.findings:
        assert f'<h3 id="{one.check}"' in text
    ids = re.findall(r' id="([^"]+)"', text)
    assert len(ids) == len(set(ids))
