"""Checks survive whatever stands in an object, readers whatever stands in a file."""

from __future__ import annotations

import contextlib
import copy
import functools
import json
import tempfile
from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pilotage.checks.baseline import Baseline, baseline_text, read_baseline
from pilotage.checks.dialect import DialectError, compose, load, position_of
from pilotage.checks.objects import KubeObject
from pilotage.checks.plain_words import plain_value
from pilotage.checks.readers.assemble import assemble
from pilotage.checks.readers.files import read_paths, read_text
from pilotage.checks.readers.reading import Reading
from pilotage.checks.registry import all_checks
from pilotage.checks.reports import as_github, as_json, as_junit, as_markdown, as_sarif, as_text
from pilotage.checks.runner import RunSettings, run
from pilotage.checks.scene import Scene
from pilotage.checks.values import duration, percent_or_count, quantity

FIXTURES = Path(__file__).parents[1] / "golden" / "checks"
JUNK: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=6)
    | st.sampled_from(["100%", "-1", "*", "Fail", "Recreate", "0", "\u202e", "\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "spec", "key", "values", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@functools.cache
def fixtures() -> list[dict[str, Any]]:
    # As plain mappings: one that names a key twice is of a class of its own.
    return [json.loads(json.dumps(one.data)) for one in read_paths([str(FIXTURES)]).objects]


def scene_of(objects: list[dict[str, Any]], *, live: bool = False) -> Scene:
    return assemble(Reading(objects=[KubeObject(one) for one in objects]), live=live)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    if isinstance(value, dict):
        for key, inner in value.items():
            found += places(inner, (*path, key))
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            found += places(inner, (*path, position))
    return found


@st.composite
def spoilt(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Objects of the fixtures with junk in places."""
    chosen = draw(st.lists(st.integers(0, len(fixtures()) - 1), min_size=1, max_size=4))
    objects = [copy.deepcopy(fixtures()[number]) for number in chosen]
    for one in objects:
        for _ in range(draw(st.integers(0, 3))):
            path = draw(st.sampled_from([path for path in places(one) if path and path != ("kind",)]))
            inner = one
            for part in path[:-1]:
                inner = inner[part]
            inner[path[-1]] = draw(JUNK)
    return objects


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(spoilt(), st.booleans())
def test_checks_and_reports_survive_any_value(objects: list[dict[str, Any]], live: bool) -> None:
    report = run(all_checks(), scene_of(objects, live=live))
    for form in (as_github, as_json, as_junit, as_markdown, as_sarif, as_text):
        assert form.render(report, {})


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(spoilt())
def test_places_of_findings_are_in_the_file(objects: list[dict[str, Any]]) -> None:
    text = "---\n".join(yaml.safe_dump(one) for one in objects)
    reading = read_text(text, "spoilt.yaml")
    report = run(all_checks(), assemble(reading), reading=reading)
    lines = text.split("\n")
    for finding in report.findings:
        assert 1 <= finding.place.line <= len(lines)
        assert 1 <= finding.place.column <= len(lines[finding.place.line - 1]) + 1


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(spoilt(), st.randoms(use_true_random=False))
def test_baseline_holds_when_documents_move(objects: list[dict[str, Any]], order: Any) -> None:
    first = run(all_checks(), scene_of(objects))
    moved = list(objects)
    order.shuffle(moved)
    counts = baseline_of(first.findings)
    second = run(all_checks(), scene_of(moved), RunSettings(baseline=counts))
    if len({KubeObject(one).key for one in objects}) == len(objects):
        assert not second.findings
        assert second.gone == 0


def baseline_of(findings: list[Any]) -> Baseline:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "baseline.json"
        file.write_text(baseline_text(findings), encoding="utf-8")
        return read_baseline(file)


@given(st.text(alphabet=st.sampled_from("ab:-[]{}&*!|>'\"#%@`,? \n\t0123456789.~<=_xoeE+\u00e9\ufeff\x00")))
@settings(max_examples=500, deadline=None)
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(DialectError):
        load(text)
        position = position_of(compose(text), ("a", 0, "b"))
        assert position.line >= 1
        assert position.column >= 1


@given(
    st.binary(max_size=200), st.sampled_from(["", "kind: Pod\napiVersion: v1\nmetadata: {name: x}\n---\n"])
)
def test_any_bytes_are_read_or_reported(content: bytes, before: str) -> None:
    text = (before.encode() + content).decode("utf-8", "surrogateescape")
    reading = read_text(text, "any.yaml")
    assert reading.objects or reading.problems
    assert len(reading.objects) >= bool(before)


@given(st.one_of(st.text(max_size=20), st.integers(), st.floats(), st.none(), st.booleans()))
def test_quantities_and_durations_are_total(value: object) -> None:
    for read in (quantity, duration):
        result = read(value)
        assert result is None or result == result  # noqa: PLR0124 - never NaN
    percent_or_count(value, 3, round_up=True)


@given(st.integers(-(10**6), 10**6), st.sampled_from(["{}", "{:+}", "{}.0", "{}e0"]))
def test_numbers_mean_what_they_say(number: int, form: str) -> None:
    assert plain_value(form.format(number)) == number


WITH_MANIFESTS = sorted(check for check in all_checks() if any((FIXTURES / check).glob("bad-*.yaml")))


@settings(deadline=None)
@given(st.sampled_from(WITH_MANIFESTS), st.data())
def test_an_ignore_silences_its_check_and_no_other(check: str, data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(sorted((FIXTURES / check).glob("bad-*.yaml"))))
    objects = [dict(one.data) for one in read_paths([str(case)]).objects]
    before = run(all_checks(), scene_of(objects))
    for one in objects:
        metadata = one.get("metadata", {})
        kept = metadata.get("annotations") or {}
        ignore = {"pilotage.dev/ignore": f"{check}: tried"}
        one["metadata"] = {**metadata, "annotations": {**kept, **ignore}}
    after = run(all_checks(), scene_of(objects))
    others = [finding.fingerprint for finding in before.findings if finding.check != check]
    assert [finding.fingerprint for finding in after.findings] == others
    # Without their files objects count as live ones, about which some checks of what was written say nothing.
    told = {finding.check for finding in before.findings if finding.check == check}
    assert {ignored.finding.check for ignored in after.ignored} == told
