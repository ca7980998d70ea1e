"""Whatever incident JSON comes in goes out as the same value."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pilotage.library.exporters.table import exporter_named
from pilotage.library.importers.detect import open_candidates
from pilotage.library.ingest import Ingest, Report
from pilotage.library.record import STANDARD_KEYS
from pilotage.library.stores.opening import open_store
from pilotage.library.stores.protocol import Filters, Store
from pilotage.library.terms import load_vocabulary

TEXT = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=40),
    st.sampled_from(
        ["", "인그레스", "한", "e\u0301", "\u2028\u2029\x85", "=1+1", "<b>", "\U0001f300", "\ufeff"]
    ),
)
SLUG = st.from_regex(r"[a-z][a-z0-9-]{0,20}", fullmatch=True)
NUMBER = st.one_of(
    st.integers(),
    st.integers(-(10**60), 10**60),
    st.floats(allow_nan=False, allow_infinity=False),
)
ANY = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBER, TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=6,
)
DAY = st.dates().map(str)
MOMENT = st.datetimes().map(lambda moment: f"{moment.isoformat(timespec='microseconds')}Z")
INTERVAL = st.one_of(st.none(), st.sampled_from(["9m", "3h 54m", "about a day", "unknown"]))


def or_null(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), strategy)


@st.composite
def with_more(
    draw: st.DrawFn, known: st.SearchStrategy[dict[str, Any]], taken: frozenset[str]
) -> dict[str, Any]:
    """An object with keys that no one knows, before and behind the known ones."""
    # A key of ours that the form does not list would have to be of its type: unknown ones begin with x.
    more = draw(st.dictionaries(TEXT.map(lambda text: f"x{text}"), ANY, max_size=2))
    items = draw(st.permutations([*draw(known).items(), *more.items()]))
    assert not taken & set(more)
    return dict(items)


def obj(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return with_more(st.fixed_dictionaries(fields), frozenset(fields))


BOTH = or_null(
    st.one_of(obj(en=TEXT, ko=TEXT), obj(en=TEXT), obj(ko=TEXT), obj(en=TEXT, ko=st.none()), obj())
)
ACTIONS = or_null(st.lists(obj(text=obj(en=TEXT, ko=or_null(TEXT))), max_size=2))
LISTED = or_null(st.lists(SLUG, max_size=3))
ID = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,12}", fullmatch=True)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "id": ID,
    "org": or_null(TEXT),
    "org_slug": or_null(SLUG),
    "date": or_null(DAY),
    "date_kind": st.sampled_from([None, "incident", "published"]),
    **dict.fromkeys(("title", "trigger", "detection", "summary", "symptoms_text", "lessons"), BOTH),
    **dict.fromkeys(("domain", "symptoms", "components", "contributing"), LISTED),
    "root_cause": or_null(SLUG),
    "severity": or_null(SLUG),
    "impact": or_null(obj(scope=or_null(TEXT), users=or_null(TEXT), region=or_null(TEXT))),
    "timeline": or_null(obj(detected_after=INTERVAL, resolved_after=INTERVAL)),
    "remediation": ACTIONS,
    "action_items": ACTIONS,
    "sources": or_null(
        st.lists(
            obj(url=TEXT.map(lambda text: f"https://example.org/{text}"), kind=SLUG, license=or_null(TEXT)),
            max_size=2,
        )
    ),
    "docs": or_null(st.lists(TEXT, max_size=2)),
    "related": or_null(st.lists(ID, max_size=2)),
    "recurrence_of": or_null(ID),
    "review": or_null(obj(written_by=or_null(TEXT), reviewed_at=or_null(TEXT), reviewed_by=or_null(TEXT))),
    "updated_at": or_null(MOMENT),
    "url": or_null(TEXT),
}
INCIDENT = obj(**FIELDS)
INCIDENTS = st.lists(INCIDENT, min_size=1, max_size=3, unique_by=lambda item: item["id"])

some = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def test_every_standard_key_is_made() -> None:
    assert set(FIELDS) == set(STANDARD_KEYS)


def same(one: Any, other: Any) -> bool:
    """Equal as JSON values, numbers by their kind as well: 1, 1.0 and true are three values."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


@contextmanager
def library() -> Iterator[tuple[Path, Store]]:
    with tempfile.TemporaryDirectory() as name, open_store(f"{name}/library.db", create=True) as store:
        yield Path(name), store


def bring_in(store: Store, path: Path) -> Report:
    return Ingest(store, load_vocabulary()).run(open_candidates([path]))


def exported(store: Store, name: str) -> bytes:
    out = io.BytesIO()
    exporter_named(name).write(store.iterate(Filters(withdrawn=True), "public"), out)
    return out.getvalue()


def as_lines(found: list[dict[str, Any]], *, ascii_only: bool) -> str:
    return "".join(json.dumps(item, ensure_ascii=ascii_only) + "\n" for item in found)


def as_list(found: list[dict[str, Any]], *, ascii_only: bool) -> str:
    return json.dumps(found, ensure_ascii=ascii_only, indent=2)


def as_object(found: list[dict[str, Any]], *, ascii_only: bool) -> str:
    return json.dumps(found[0], ensure_ascii=ascii_only)


@pytest.mark.slow
@some
@given(INCIDENTS, st.sampled_from([as_lines, as_list, as_object]), st.booleans(), st.booleans())
def test_what_comes_in_goes_out(found: list[dict[str, Any]], form: Any, bom: bool, ascii_only: bool) -> None:
    if form is as_object:
        found = found[:1]
    with library() as (folder, store):
        path = folder / ("in.jsonl" if form is as_lines else "in.json")
        path.write_bytes((b"\xef\xbb\xbf" if bom else b"") + form(found, ascii_only=ascii_only).encode())
        assert bring_in(store, path).new == len(found)
        ordered = sorted(found, key=lambda item: item["id"])
        listed = json.loads(exported(store, "incident-json"))
        lines = [json.loads(line) for line in exported(store, "jsonl").split(b"\n")[:-1]]
        assert same(sorted(listed, key=lambda item: item["id"]), ordered)
        assert same(sorted(lines, key=lambda item: item["id"]), ordered)
        for name, suffix in (("incident-json", "json"), ("jsonl", "jsonl")):
            again = folder / f"again.{suffix}"
            again.write_bytes(exported(store, name))
            report = bring_in(store, again)
            assert (report.new, report.changed, report.unchanged) == (0, 0, len(found))


@pytest.mark.slow
@settings(some, max_examples=20)
@given(INCIDENTS)
def test_a_zip_comes_back_equal(found: list[dict[str, Any]]) -> None:
    with library() as (folder, store), library() as (_, other):
        path = folder / "in.json"
        path.write_text(json.dumps(found))
        bring_in(store, path)
        packed = folder / "out.zip"
        packed.write_bytes(exported(store, "zip"))
        assert bring_in(other, packed).new == len(found)
        assert exported(other, "jsonl") == exported(store, "jsonl")
        assert bring_in(store, packed).unchanged == len(found)


@pytest.mark.slow
@settings(some, max_examples=15)
@given(INCIDENTS)
def test_every_format_takes_every_record(found: list[dict[str, Any]]) -> None:
    with library() as (folder, store):
        path = folder / "in.json"
        path.write_text(json.dumps(found))
        bring_in(store, path)
        assert store.verify() == []
        for name in ("csv", "sqlite", "zip"):
            assert exported(store, name)
