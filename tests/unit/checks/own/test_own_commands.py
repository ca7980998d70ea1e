"""`--checks`, `pilotage check test` and `pilotage check export` as a user meets them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from pilotage.cli.main import run

GOLDEN = Path(__file__).parents[3] / "golden" / "own"
WEB = str(GOLDEN / "manifests" / "web.yaml")
CHECKS = str(GOLDEN / "checks.yaml")
Call = Callable[..., SimpleNamespace]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Call:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gc.disable", lambda: None)

    def call(*arguments: str) -> SimpleNamespace:
        with pytest.raises(SystemExit) as stop:
            run(["check", *arguments])
        captured = capsys.readouterr()
        return SimpleNamespace(code=int(stop.value.code or 0), out=captured.out, err=captured.err)

    return call


@pytest.fixture
def foreign(tmp_path: Path) -> str:
    text = Path(WEB).read_text().replace("registry.shop.example", "other.example")
    (tmp_path / "foreign.yaml").write_text(text)
    return "foreign.yaml"


def test_own_checks_run_beside_the_others(said: Call, foreign: str) -> None:
    answer = said(foreign, "--checks", CHECKS, "-o", "json")
    assert answer.code == 1
    found = {one["check"]: one for one in json.loads(answer.out)["findings"]}
    assert found["shop-own-registry"]["place"] == "foreign.yaml:10:23"
    assert found["shop-own-registry"]["message"].startswith("container web runs other.example")
    assert said(foreign, "--checks", CHECKS, "--select", "own", "--fail-on", "critical").code == 0
    assert said(foreign, "--checks", CHECKS, "--select", "own", "--ignore", "shop-*").code == 0
    assert said(foreign, "--checks", CHECKS, "--select", "shop-own-registy").code == 2
    assert said(foreign, "--select", "shop-own-registry").code == 2


@pytest.mark.parametrize("form", ["text", "json", "sarif", "junit", "github", "markdown", "html"])
def test_own_checks_in_every_form(said: Call, foreign: str, form: str) -> None:
    answer = said(foreign, "--checks", CHECKS, "--select", "own", "-o", form)
    assert answer.code == 1
    assert "shop-own-registry" in answer.out


@pytest.mark.parametrize("form", ["text", "json", "sarif", "junit", "markdown", "html"])
def test_an_incident_of_ones_own_is_named(said: Call, foreign: str, form: str) -> None:
    answer = said(foreign, "--checks", CHECKS, "--select", "own", "-o", form)
    assert "shop-2026-03-02-image-was-gone" in answer.out


def test_own_checks_are_listed_and_explained(said: Call) -> None:
    listed = said("list", "--family", "own", "--checks", CHECKS).out
    assert "shop-own-registry (high)" in listed
    assert "your own" in listed
    page = said("explain", "shop-own-registry", "--checks", CHECKS).out
    assert "What others publish" in page
    assert said("explain", "shop-own-registry").code == 2
    assert "deployments" in said("role", "--select", "own", "--checks", CHECKS).out


def test_own_checks_in_the_configuration(said: Call, foreign: str, tmp_path: Path) -> None:
    (tmp_path / "pilotage.toml").write_text('[checks.severity]\nshop-own-registry = "low"\n')
    assert said(foreign, "--checks", CHECKS, "--select", "own").code == 0
    assert said(foreign).code == 2


@pytest.fixture
def house(said: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:  # noqa: ARG001 - it goes first: both choose the folder
    """A folder whose `pilotage.toml` names own checks, seen from a folder in it."""
    shutil.copytree(GOLDEN, tmp_path / "team")
    (tmp_path / "deploy").mkdir()
    (tmp_path / "deploy" / "foreign.yaml").write_text(
        Path(WEB).read_text().replace("registry.shop.example", "other.example")
    )
    (tmp_path / "pilotage.toml").write_text(
        '[checks]\nown = ["team/**/*.yaml"]\n[checks.severity]\nshop-own-registry = "low"\n'
    )
    monkeypatch.chdir(tmp_path / "deploy")
    return tmp_path


@pytest.mark.usefixtures("house")
def test_every_command_knows_the_checks_of_the_configuration(said: Call) -> None:
    found = json.loads(said(".", "--select", "own", "-o", "json").out)["findings"]
    assert {(one["check"], one["severity"]) for one in found} >= {("shop-own-registry", "low")}
    assert said(".", "--select", "own", "--no-config").code == 2
    assert "shop-own-registry (high)" in said("list", "--family", "own").out
    assert "What others publish" in said("explain", "shop-own-registry").out
    assert said("explain", "shop-own-registry", "--no-config").code == 2
    assert said("test").out == (GOLDEN / "expected.txt").read_text("utf-8")
    assert said("test", "--no-config").code == 2
    assert "deployments" in said("role", "--select", "own").out
    assert "pilotage-shop-own-registry" in said("export", "shop-own-registry").out
    assert "pilotage-cron-overlap-unbounded" in said("export").out
    exported = yaml.safe_load_all(said("export", "--checks", CHECKS).out)
    assert all("-shop-" in one["metadata"]["name"] for one in exported)


def test_coverage_counts_own_checks(said: Call, house: Path) -> None:
    text = Path(CHECKS).read_text()
    incident = next(iter(json.loads(said("coverage", "-o", "json").out)["without"]))
    (house / "team" / "checks.yaml").write_text(text.replace("shop-2026-03-02-image-was-gone", incident))
    covered = json.loads(said("coverage", "-o", "json").out)["covered"]
    assert [one["check"] for one in covered[incident]] == ["shop-own-registry"]


def test_a_file_is_one_file_however_it_is_named(said: Call, house: Path) -> None:
    assert said("list", "--family", "own", "--checks", "../team/checks.yaml").code == 0
    assert said("list", "--family", "own", "--checks", str(house / "team")).code == 0


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ('"gone.yaml"', "pilotage.toml:2: ../gone.yaml does not exist"),
        ('["team", "more/*.yaml"]', "pilotage.toml:2: ../more/*.yaml means no file of checks"),
        ('["deploy"]', "pilotage.toml:2: ../deploy holds no file of checks"),
        ("[1]", "pilotage.toml:2: 'own' must be a list of texts in quotes"),
        ('"broken.yaml"', "../broken.yaml:1:11: an id is words"),
    ],
)
def test_wrong_checks_of_the_configuration_are_told_with_the_line(
    said: Call, house: Path, own: str, told: str
) -> None:
    (house / "broken.yaml").write_text("checks: [{id: a}]\n")
    (house / "pilotage.toml").write_text(f"[checks]\nown = {own}\n")
    for arguments in (["foreign.yaml"], ["list"], ["test"], ["coverage"], ["role"], ["export"]):
        answer = said(*arguments)
        assert answer.code == 2
        assert told in answer.err


def test_without_files_there_must_be_checks_in_the_configuration(said: Call) -> None:
    answer = said("test")
    assert answer.code == 2
    assert "name files, or write own = [...]" in answer.err


def test_own_checks_with_a_baseline(said: Call, foreign: str) -> None:
    options = ("--checks", CHECKS, "--select", "own")
    assert said(foreign, *options, "--write-baseline", "base.json").code == 0
    answer = said(foreign, *options, "--baseline", "base.json")
    assert answer.code == 0
    assert "in the baseline" in answer.out


def test_wrong_files_of_checks_end_in_exit_code_2(said: Call, foreign: str, tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("checks: [{id: a}]\n")
    answer = said(foreign, "--checks", "own.yaml")
    assert answer.code == 2
    assert "own.yaml:1:11: an id is words" in answer.err
    assert said(foreign, "--checks", "none.yaml").code == 2


def test_check_test_prints_what_it_printed(said: Call) -> None:
    answer = said("test", CHECKS)
    assert answer.out == (GOLDEN / "expected.txt").read_text("utf-8")
    assert answer.code == 1


def test_check_test_as_json_and_its_exit_codes(said: Call, tmp_path: Path) -> None:
    shutil.copytree(GOLDEN / "manifests", tmp_path / "manifests")
    file = yaml.safe_load(Path(CHECKS).read_text())
    file["checks"] = [file["checks"][0]]
    (tmp_path / "good.yaml").write_text(yaml.safe_dump(file))
    answer = said("test", "good.yaml", "-o", "json")
    document = json.loads(answer.out)
    assert answer.code == 0
    assert document["failed"] == 0
    assert len(document["cases"]) == 4
    assert said("test", "good.yaml", "--strict").code == 0

    file["checks"][0]["tests"] = file["checks"][0]["tests"][:1]
    (tmp_path / "good.yaml").write_text(yaml.safe_dump(file))
    assert said("test", "good.yaml").code == 0
    assert said("test", "good.yaml", "--strict").code == 1

    cases = file["checks"][0].pop("tests")
    (tmp_path / "none.yaml").write_text(yaml.safe_dump(file))
    assert said("test", "none.yaml").code == 2
    assert cases

    (tmp_path / "manifests" / "web.yaml").unlink()
    assert said("test", "good.yaml").code == 3
    (tmp_path / "good.yaml").write_text("checks: 1\n")
    assert said("test", "good.yaml").code == 2


def test_export_writes_policies_that_name_the_incident(said: Call) -> None:
    answer = said("export", "webhook-timeout", "cron-*", "--action", "Deny")
    assert answer.code == 0
    documents = list(yaml.safe_load_all(answer.out))
    kinds = [one["kind"] for one in documents]
    assert kinds.count("ValidatingAdmissionPolicy") == kinds.count("ValidatingAdmissionPolicyBinding") >= 5
    by_name = {(one["kind"], one["metadata"]["name"]): one for one in documents}
    policy = by_name["ValidatingAdmissionPolicy", "pilotage-cron-overlap-unbounded"]
    assert "Zalando 2018: " in policy["spec"]["validations"][0]["message"]
    binding = by_name["ValidatingAdmissionPolicyBinding", "pilotage-cron-overlap-unbounded"]
    assert binding["spec"]["validationActions"] == ["Deny"]
    assert "cron-policy-misplaced is not written: the API server drops fields" in answer.err


def test_export_says_what_cannot_be(said: Call) -> None:
    answer = said("export", "cron-policy-misplaced")
    assert answer.code == 2
    assert not answer.out
    assert said("export", "cron-polcy-misplaced").code == 2
    listed = json.loads(said("export", "--list", "-o", "json").out)
    assert all(one["policy"] != bool(one["why_not"]) for one in listed)
    assert "Cannot" in said("export", "--list").out


def test_export_of_own_checks(said: Call) -> None:
    answer = said("export", "--checks", CHECKS, "--except-namespace", "")
    documents = list(yaml.safe_load_all(answer.out))
    assert [one["metadata"]["name"] for one in documents if one["kind"].endswith("Policy")] == [
        "pilotage-shop-own-registry",
        "pilotage-shop-wrong-on-purpose",
    ]
    assert "shop-budget-for-what-is-served is not written: it uses 'budgets'" in answer.err
    assert "matchResources" not in documents[1]["spec"]
