"""JSON read with its places is the JSON that Python reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pilotage.checks.json_text import place_of, read_json

_KEYS = st.sampled_from(["items", "a", "", '"'])
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=12,
)


def ways(value: Any) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Each way into a value, with what stands at its end."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in inside:
        yield (key,), inner
        yield from (((key, *way), end) for way, end in ways(inner))


@given(_VALUES, st.sampled_from([None, 1]), st.booleans())
def test_values_and_places(value: Any, indent: int | None, shared: bool) -> None:
    text = json.dumps(value, indent=indent)
    found = read_json(text, 0, {} if shared else None)
    assert (found.value, found.end) == (value, len(text))
    assert [json.loads(text[one.start : one.end]) for one in found.items] == [
        one.value for one in found.items
    ]
    for way, end in ways(value):
        rest = text[place_of(text, way) :]
        if isinstance(way[-1], str):
            assert rest.startswith(json.dumps(way[-1]) + ":")
        else:
            assert json.JSONDecoder().raw_decode(rest)[0] == end
