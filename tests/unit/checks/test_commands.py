"""`pilotage check` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from pilotage.cli.main import run

FIXTURES = Path(__file__).parents[2] / "golden" / "checks"
ZALANDO = str(FIXTURES / "cron-policy-misplaced" / "bad-zalando.yaml")
INCIDENT = "zalando-2018-09-07-iam-404-cronjob-api-server-oom"


class Said:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gc.disable", lambda: None)

    def call(*arguments: str) -> Said:
        with pytest.raises(SystemExit) as stop:
            run(["check", *arguments])
        captured = capsys.readouterr()
        return Said(int(stop.value.code or 0), captured.out, captured.err)

    return call


def test_text_tells_place_evidence_fix_and_incident(said) -> None:
    answer = said(ZALANDO)
    assert answer.code == 1
    assert "14:11" in answer.out
    assert "Zalando 2018: IAM answered 404" in answer.out
    assert "fix    Move `concurrencyPolicy`" in answer.out
    assert "\x1b" not in answer.out


def test_json_carries_what_is_promised(said) -> None:
    answer = said(ZALANDO, "--output", "json")
    document = json.loads(answer.out)
    finding = document["findings"][0]
    assert finding["check"] == "cron-policy-misplaced"
    assert finding["severity"] == "critical"
    assert finding["place"] == f"{ZALANDO}:14:11"
    assert finding["evidence"]
    assert finding["incidents"][0]["id"] == INCIDENT
    assert finding["incidents"][0]["title"]
    assert finding["patch"][0]["op"] == "move"


def test_sarif_has_rules_fingerprints_and_relative_places(said) -> None:
    log = json.loads(said(ZALANDO, "-o", "sarif").out)
    (first,) = log["runs"]
    result = first["results"][0]
    assert first["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    assert result["partialFingerprints"]
    assert not result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].startswith("/")


def test_junit_is_xml_with_counts(said) -> None:
    root = ET.fromstring(said(ZALANDO, "-o", "junit").out)
    assert int(root.get("failures", "0")) == len(root.findall(".//failure")) > 0
    assert int(root.get("tests", "0")) == len(root.findall(".//testcase"))


def test_github_and_markdown(said) -> None:
    assert said(ZALANDO, "-o", "github").out.startswith(f"::error file={ZALANDO},line=14,col=11,title=")
    assert "CRITICAL `cron-policy-misplaced`" in said(ZALANDO, "-o", "markdown").out


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--fail-on", "never"], 0),
        (["--fail-on", "critical"], 1),
        (["--ignore", "cron-policy-misplaced"], 0),
        (["--select", "webhooks"], 0),
        (["--severity", "cron-policy-misplaced=low"], 0),
        (["--severity", "cron-policy-misplaced=dire"], 2),
        (["--select", "cron-polcy-misplaced"], 2),
        (["--kubernetes", "new"], 2),
        (["--kubernetes", "1.30"], 1),
        (["no-such-file.yaml"], 2),
    ],
)
def test_exit_codes(said, arguments: list[str], code: int) -> None:
    assert said(ZALANDO, *arguments).code == code


def test_what_cannot_be_read_is_exit_code_3(said, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: x\n")
    answer = said(".")
    assert answer.code == 3
    assert "a.yaml" in answer.out
    assert "the answer is not whole" in answer.out
    assert said(".", ZALANDO).code == 1


def test_nothing_to_check_is_no_absence_of_findings(said, tmp_path: Path) -> None:
    (tmp_path / "values.yaml").write_text("replicas: 1\n")
    answer = said(".")
    assert answer.code == 3
    assert "nothing was checked" in answer.out


def test_baseline_is_written_and_read(said, tmp_path: Path) -> None:
    assert said(ZALANDO, "--write-baseline", "base.json").code == 0
    answer = said(ZALANDO, "--baseline", "base.json")
    assert answer.code == 0
    assert "in the baseline" in answer.out
    assert json.loads((tmp_path / "base.json").read_text())["findings"]


def test_a_folder_called_like_a_command(said, tmp_path: Path) -> None:
    (tmp_path / "list").mkdir()
    (tmp_path / "list" / "a.yaml").write_text(Path(ZALANDO).read_text())
    assert "cronjobs" in said("list").out
    assert said("./list").code == 1


def test_explain_list_and_coverage(said) -> None:
    page = said("explain", "cron-policy-misplaced").out
    assert "Why it matters" in page
    assert INCIDENT in page
    assert said("explain", "cron-polcy").code == 2
    listed = json.loads(said("list", "-o", "json").out)
    assert {"id", "severity", "incidents", "fix"} <= listed[0].keys()
    covered = json.loads(said("coverage", "-o", "json").out)
    assert INCIDENT in covered["covered"]
    assert covered["incidents"] == len(covered["covered"]) + len(covered["without"])


def test_the_list_is_narrowed_as_for_programs(said) -> None:
    def ids(*arguments: str) -> list[str]:
        return [one["id"] for one in json.loads(said("list", *arguments, "-o", "json").out)]

    every = ids()
    of_incident = ids("--incident", INCIDENT)
    assert "cron-policy-misplaced" in of_incident
    assert len(of_incident) < len(every)
    severe = [ids("--severity", level) for level in ("critical", "high")]
    assert sorted(ids("--severity", "critical", "--severity", "high")) == sorted(severe[0] + severe[1])
    both = ids("--family", "cronjobs", "--family", "webhooks")
    assert sorted(both) == sorted(ids("--family", "cronjobs") + ids("--family", "webhooks"))
    assert ids("Concurrency", "misplaced") == ["cron-policy-misplaced"]
    assert ids("--severity", "high", "Concurrency", "misplaced", "--incident", INCIDENT) == ids(
        "misplaced", "concurrency"
    )


def test_a_list_without_anything_that_fits_says_so(said) -> None:
    answer = said("list", "concurrency", "--family", "webhooks")
    assert (answer.code, answer.out) == (0, "no check fits\n")


def test_a_manifest_cannot_drive_the_terminal(said, tmp_path: Path) -> None:
    text = Path(ZALANDO).read_text().replace("Forbid", '"\\e[31m\\u202eForbid"')
    (tmp_path / "a.yaml").write_text(text)
    for form in ("text", "json", "github", "markdown", "junit", "sarif"):
        out = said("a.yaml", "-o", form).out
        assert "\x1b" not in out
        assert "\u202e" not in out
