"""The numbers behind the drawings."""

from __future__ import annotations

import itertools

import pytest

from pilotage.web.ui.charts import year_bars


@pytest.mark.parametrize("width", [316.0, 520.0])
@pytest.mark.parametrize("first", [1, 1601, 1900, 1970, 2015, 2024])
def test_years_however_far_apart_have_bars_and_labels_that_do_not_meet(first: int, width: float) -> None:
    chart = year_bars({f"{first:04}": 2, "2024": 1}, width_=width)
    assert len(chart.bars) == 2024 - first + 1
    assert (chart.bars[0].n, chart.bars[-1].n) == (2 if first < 2024 else 1, 1)
    assert chart.bars[-1].x + chart.bars[-1].w <= width
    labelled = [bar.x for bar in chart.bars if bar.label]
    assert labelled
    assert all(b - a > 20 for a, b in itertools.pairwise(labelled))
