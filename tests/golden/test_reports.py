"""A folder under `reports/` is a case: a scene, and the whole report of it in every form, as users get it.

`scene/` is what `pilotage check .` reads, with a `pilotage.toml` that names the few checks which it is about;
each other file is the report in the form (and language) of its name. A new case needs no code.
`GOLDEN_UPDATE=1` writes the reports again; read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pilotage.cli.main import run

CASES = sorted(path.parent for path in (Path(__file__).parent / "reports").glob("*/scene"))
FILES = {
    "report.txt": ("text", "en"),
    "report.ko.txt": ("text", "ko"),
    "report.json": ("json", "en"),
    "report.sarif": ("sarif", "en"),
    "report.junit.xml": ("junit", "en"),
    "report.github.txt": ("github", "en"),
    "report.md": ("markdown", "en"),
    "report.ko.md": ("markdown", "ko"),
    "report.html": ("html", "en"),
    "report.ko.html": ("html", "ko"),
}
"""File of a case -> form and language."""
UPDATE = bool(os.environ.get("GOLDEN_UPDATE"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("name", FILES)
def test_report(
    case: Path, name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(case / "scene")
    monkeypatch.setattr("gc.disable", lambda: None)
    form, lang = FILES[name]
    with pytest.raises(SystemExit) as stop:
        run(["check", "files", ".", "--output", form, "--lang", lang])
    said = capsys.readouterr().out
    assert stop.value.code in {0, 1, 3}, "it was not used as it wants to be"
    if UPDATE:
        (case / name).write_text(said, encoding="utf-8")
    assert said == (case / name).read_text("utf-8")


def test_a_case_has_every_form_and_nothing_else() -> None:
    assert len(CASES) > 1
    for case in CASES:
        assert {path.name for path in case.iterdir()} == {"scene", *FILES}
