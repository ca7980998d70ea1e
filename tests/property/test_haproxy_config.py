"""Whatever stands in an HAProxy configuration, it is read, checked and told with places inside of it."""

from __future__ import annotations

import contextlib
import functools
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pilotage.checks.haproxy.addresses import address_of
from pilotage.checks.haproxy.config import haproxy_config
from pilotage.checks.haproxy.times import milliseconds, spoken
from pilotage.checks.haproxy.words import BadLine, split
from pilotage.checks.model import Finding
from pilotage.checks.objects import SourceFile
from pilotage.checks.readers.assemble import assemble
from pilotage.checks.readers.files import read_text
from pilotage.checks.readers.reading import Reading
from pilotage.checks.registry import all_checks
from pilotage.checks.reports import as_github, as_json, as_junit, as_markdown, as_sarif, as_text
from pilotage.checks.runner import RunSettings, run
from pilotage.checks.texts import Text

FIXTURES = Path(__file__).parents[1] / "golden" / "checks"
OURS = tuple(name for name, one in all_checks().items() if one.family.startswith("haproxy_"))
SIGNS = "ab1: .,-_/\\\"'#$%{}[]()\t\r=@*?"


@functools.cache
def lines() -> list[str]:
    """Every line of the fixtures."""
    found = {
        line
        for file in FIXTURES.rglob("*.cfg")
        if "haproxy" in str(file) or "/hp-" in str(file)
        for line in file.read_text("utf-8").split("\n")
    }
    return sorted(found)


@st.composite
def configurations(draw: st.DrawFn) -> str:
    """Lines of the fixtures in any order, some of them spoilt."""
    chosen = draw(st.lists(st.sampled_from(lines()), max_size=40))
    for _ in range(draw(st.integers(0, 4))):
        if chosen:
            place = draw(st.integers(0, len(chosen) - 1))
            at = draw(st.integers(0, len(chosen[place])))
            junk = draw(st.text(SIGNS, max_size=5))
            chosen[place] = chosen[place][:at] + junk + chosen[place][at + draw(st.integers(0, 3)) :]
    return "\n".join(chosen)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(configurations())
def test_any_configuration_is_checked(text: str) -> None:
    reading = Reading(configs=[haproxy_config(Text(text, SourceFile("haproxy.cfg", text)))])
    report = run(all_checks(), assemble(reading), RunSettings(select=OURS), reading=reading)
    rows = text.split("\n")
    for finding in report.findings:
        assert 1 <= finding.place.line <= len(rows)
        assert 1 <= finding.place.column <= len(rows[finding.place.line - 1]) + 1
        assert finding.message
        assert finding.evidence
    for form in (as_github, as_json, as_junit, as_markdown, as_sarif, as_text):
        assert form.render(report, {})


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(configurations())
def test_comments_and_blank_lines_change_no_finding(text: str) -> None:
    wider = "\n\n# a comment\n" + text.replace("\n", "\n# another\n\n")
    assert marks(text) == marks(wider)


def marks(text: str) -> list[str]:
    reading = Reading(configs=[haproxy_config(Text(text, SourceFile("haproxy.cfg", text)))])
    # What a comment says of who writes the file is a fact to this one check.
    chosen = tuple(name for name in OURS if name != "hp-rr-sorted")
    report = run(all_checks(), assemble(reading), RunSettings(select=chosen), reading=reading)
    return sorted(finding.fingerprint for finding in report.findings)


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=300), st.sampled_from(["haproxy.cfg", "haproxy.cfg.j2", "any.cfg"]))
def test_any_text_is_read_or_reported(text: str, name: str) -> None:
    reading = read_text(text, name)
    assert reading.configs or reading.objects or reading.problems or reading.skipped


@given(st.text(SIGNS, max_size=40))
def test_words_stand_where_their_columns_say(line: str) -> None:
    with contextlib.suppress(BadLine):
        for word in split(line, {}):
            assert 1 <= word.column <= len(line)
            assert not line[word.column - 1].isspace()


@given(
    st.lists(st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0\r\n"), min_size=1))
)
def test_quoted_words_come_back(words: list[str]) -> None:
    quoted = " ".join(
        '"' + "".join(f"\\{sign}" if sign in '"\\$' else sign for sign in word) + '"' for word in words
    )
    assert list(split(quoted, {})) == words


@given(st.text(max_size=30))
def test_addresses_and_times_are_total(text: str) -> None:
    assert address_of(text).kind
    time = milliseconds(text)
    assert time is None or spoken(time)


CASES = sorted(path for name in OURS for path in (FIXTURES / name).glob("bad-*.cfg"))


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(CASES))
def test_a_comment_silences_its_check_and_no_other(case: Path) -> None:
    check, text = case.parent.name, case.read_text("utf-8")
    before = findings(text)
    rows = text.split("\n")
    places = sorted({one.place.line for one in before if one.check == check}, reverse=True)
    for line in places:
        rows.insert(line - 1, f"# pilotage: ignore[{check}] tried")
    after = findings("\n".join(rows))
    assert [one.check for one in before if one.check == check]
    assert sorted(one.fingerprint for one in after) == sorted(
        one.fingerprint for one in before if one.check != check
    )


def findings(text: str) -> list[Finding]:
    reading = Reading(configs=[haproxy_config(Text(text, SourceFile("haproxy.cfg", text)))])
    return run(all_checks(), assemble(reading), RunSettings(select=OURS), reading=reading).findings
