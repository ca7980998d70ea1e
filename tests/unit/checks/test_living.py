"""`pilotage.toml`, languages and files of reports, as a user meets them on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pilotage.cli.main import run

CRON = (
    Path(__file__).parents[2] / "golden" / "checks" / "cron-policy-misplaced" / "bad-zalando.yaml"
).read_text()
ID = "cron-policy-misplaced"


class Said:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    def severities(self) -> dict[str, str]:
        return {one["check"]: one["severity"] for one in json.loads(self.out)["findings"]}


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    (tmp_path / "deploy").mkdir()
    (tmp_path / "deploy" / "a.yaml").write_text(CRON, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gc.disable", lambda: None)
    for name in ("LC_ALL", "LC_MESSAGES", "LANG", "PILOTAGE_LANG"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: str) -> Said:
        with pytest.raises(SystemExit) as stop:
            run(["check", *arguments])
        captured = capsys.readouterr()
        return Said(int(stop.value.code or 0), captured.out, captured.err)

    return call


def config(text: str, path: str = "pilotage.toml") -> None:
    Path(path).write_text(text, encoding="utf-8")


def test_the_file_is_found_from_below_and_left_out_on_request(said, monkeypatch: pytest.MonkeyPatch) -> None:
    config(f'[checks]\nselect = ["cronjobs"]\n[checks.severity]\n{ID} = "low"\n')
    monkeypatch.chdir("deploy")
    assert said("a.yaml", "-o", "json").severities()[ID] == "low"
    assert said("a.yaml", "-o", "json", "--no-config").severities()[ID] == "critical"
    config(f'[checks.severity]\n{ID} = "medium"\n', "other.toml")
    assert said("a.yaml", "-o", "json", "--config", "other.toml").severities()[ID] == "medium"
    assert said("a.yaml", "--config", "absent.toml").code == 2
    assert said("a.yaml", "--config", "other.toml", "--no-config").code == 2


def test_the_command_line_beats_the_file(said) -> None:
    config(
        '[checks]\nselect = ["webhooks"]\nignore = ["cronjobs"]\nfail_on = "never"\nkubernetes = "1.24"\n'
        f'[checks.severity]\n{ID} = "low"\n'
    )
    assert "1.24 is judged as 1.25" in said("deploy").err, "the version of the file is read"
    version = ("--kubernetes", "1.34")
    plain = said("deploy", *version)
    assert (plain.code, "judged as" in plain.err) == (0, False)
    chosen = said("deploy", *version, "-o", "json", "--select", ID, "--ignore", "webhooks")
    assert chosen.severities() == {ID: "low"}
    raised = said("deploy", *version, "--select", ID, "--ignore", "webhooks", "--severity", "cron-policy-*=critical",
                  "--fail-on", "critical")  # fmt: skip
    assert raised.code == 1


def test_a_wrong_file_is_one_error_before_anything_is_read(said) -> None:
    config(f'[checks]\nselect = ["{ID}"]\nsevrity = 1\n')
    answer = said("no-such-folder")
    assert answer.code == 2
    assert "pilotage.toml:3: unknown key 'sevrity' in [checks]" in answer.err
    assert "'severity'" in answer.err


def test_every_wrong_word_is_told(said) -> None:
    assert said("deploy", "--severity", f"{ID}=low", "--severity", "no-such-check=low").code == 2
    for also in ("sarif", "pdf=a", "json="):
        assert said("deploy", "--also", also).code == 2


def test_a_rule_ignores_and_an_expired_one_is_told(said) -> None:
    rule = f'[[checks.rules]]\nchecks = ["{ID}"]\npaths = ["deploy/**"]\nreason = "known"\n'
    config(rule)
    answer = said(".")
    assert f"{ID}  " not in answer.out
    assert "1 ignored" in answer.out
    config(f"{rule}expires = 2020-02-03\n")
    answer = said(".")
    assert f"{ID}  " in answer.out
    assert "idle      pilotage.toml:1: rule" in answer.out
    assert "it expired on 2020-02-03: 1 finding is back" in answer.out


def test_a_rule_that_meets_nothing_is_told_by_a_whole_run_only(said) -> None:
    config('[[checks.rules]]\nnames = ["nobody"]\nreason = "x"\n')
    assert "it means nothing that was checked" in said(".").out
    assert "idle" not in said("deploy").out


def test_excluded_paths_are_not_read(said) -> None:
    Path("deploy/broken.yaml").write_text("apiVersion: v1\nkind: [\n")
    Path("deploy/sub").mkdir()
    Path("deploy/sub/b.yaml").write_text(CRON)
    assert "broken.yaml" in said(".").out
    config('[checks]\nexclude = ["broken.*", "deploy/sub"]\n')
    answer = said("deploy")
    assert "broken.yaml" not in answer.out
    assert "in 1 file" in answer.out
    assert "deploy/sub/b.yaml" in said("deploy", "--exclude", "*.yml").out
    assert "deploy/sub/b.yaml" in said("deploy/sub/b.yaml").out, "what is named is read"


def test_korean_by_option_variable_file_and_locale(said, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "1 critical" in said("deploy").out
    for form in ("text", "markdown", "html"):
        assert "치명적" in said("deploy", "--lang", "ko", "-o", form).out
    config('lang = "ko"\n')
    answer = said("deploy").out
    assert "사례" in answer
    assert "Zalando 2018: CronJob이" in answer
    monkeypatch.setenv("PILOTAGE_LANG", "en")
    assert "1 critical" in said("deploy").out
    monkeypatch.delenv("PILOTAGE_LANG")
    monkeypatch.setenv("LANG", "ko_KR.UTF-8")
    assert "치명적" in said("deploy", "--no-config").out


def test_what_programs_read_does_not_depend_on_the_locale(said, monkeypatch: pytest.MonkeyPatch) -> None:
    before = said("deploy", "-o", "json").out
    monkeypatch.setenv("LANG", "ko_KR.UTF-8")
    assert said("deploy", "-o", "json").out == before
    assert "CronJob이" in said("deploy", "-o", "json", "--lang", "ko").out


def test_reports_go_to_files(said) -> None:
    answer = said(
        "deploy", "--output", "json", "--to", "a.json", "--also", "html=b.html", "--also", "sarif=c.sarif"
    )
    assert (answer.code, answer.out) == (1, "")
    assert json.loads(Path("a.json").read_text())["findings"]
    assert json.loads(Path("c.sarif").read_text())["version"] == "2.1.0"
    assert Path("b.html").read_text().startswith("<!doctype html>")
    answer = said("deploy", "--to", "no/such/folder.txt")
    assert (answer.code, "cannot write" in answer.err) == (2, True)
