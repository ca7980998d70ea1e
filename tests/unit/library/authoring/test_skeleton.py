from __future__ import annotations

import pytest

from pilotage.core.errors import InvalidInput
from pilotage.library.authoring.skeleton import skeleton
from pilotage.library.authoring.validation import validate_file
from pilotage.library.decoding.strict_yaml import load
from pilotage.library.importers.detect import open_candidates
from pilotage.library.record import STANDARD_KEYS, Record, read_record


@pytest.mark.parametrize("own", ["elastic-2019-01-18-oom", "IL-0011", "2019", "null", "1e5"])
def test_a_skeleton_can_be_read_and_its_author_is_told_what_to_fill_in(tmp_path, own):
    path = tmp_path / "new.yaml"
    path.write_text(skeleton(own))
    problems = validate_file(path, {})
    assert [problem.key for problem in problems] == ["org", "org_slug", "date", "title", "summary", "sources"]
    for problem in problems:
        assert "still empty" in problem.message
        assert problem.instead.startswith(("write", "name"))
        assert path.read_text().splitlines()[problem.line - 1].startswith(f"{problem.key}:")
    (found,) = open_candidates([path])
    assert read_record(found.document).id == own


def test_a_skeleton_with_one_thing_said_is_a_draft(tmp_path):
    path = tmp_path / "new.yaml"
    path.write_text(
        skeleton("a-b")
        .replace("  en: null        # English", "  en: It broke")
        .replace("  en: null  # English", "  en: It broke")
    )
    assert "It broke" in path.read_text()
    assert [problem.key for problem in validate_file(path, {})] == ["title"]


def test_it_has_every_key_of_the_record_with_a_comment():
    text = skeleton("a-b")
    value = load(text.encode(), "s")
    assert set(value) == set(Record.model_fields)
    assert set(STANDARD_KEYS) <= set(value)
    for line in text.splitlines():
        assert line.startswith(("  en:", "  ko:")) or "# " in line


def test_an_impossible_id_is_refused_with_an_offer():
    with pytest.raises(InvalidInput) as caught:
        skeleton("My Outage!")
    assert "my-outage" in caught.value.hint
    with pytest.raises(InvalidInput):
        skeleton("장애")
