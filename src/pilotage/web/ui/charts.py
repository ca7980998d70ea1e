"""The drawings of the statistics and topic pages as numbers: where each bar and cell stands. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pilotage.library.insight.statistics import Distribution, Matrix
from pilotage.library.record import Lang
from pilotage.web.ui.chain_text import lines, width
from pilotage.web.ui.incident import duration

_SHADES = ((0, "h0"), (1, "h1"), (2, "h2"), (4, "h3"), (7, "h4"))
SIZE = 12.0
_MOST_LINES = 5
_BOLD = 1.08
_LABEL = 46.0


@dataclass(frozen=True)
class Label:
    """A text in lines, at a place."""

    x: float
    y: float
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Cell:
    """One square of the heat map."""

    x: float
    y: float
    w: float
    h: float
    n: int
    shade: str
    first: str
    second: str


@dataclass(frozen=True)
class Heat:
    """The heat map."""

    width: float
    height: float
    columns: tuple[Label, ...]
    rows: tuple[Label, ...]
    cells: tuple[Cell, ...]
    totals: tuple[tuple[float, float, int], ...]
    legend: tuple[tuple[str, str], ...]


def heat(matrix: Matrix, lang: Lang, *, narrow: bool) -> Heat:
    """The heat map of two facets; the narrow one has smaller cells and letters for its columns."""
    top, room, w, h = (150.0, 118.0, 26.0, 26.0) if narrow else (62.0, 210.0, 84.0, 30.0)
    names = [matrix.labels[0][slug][lang] for slug in matrix.rows]
    room = min(room, max((width(name, SIZE) * _BOLD for name in names), default=0) + 12)
    columns = matrix.columns[: int(((316.0 if narrow else 1010.0) - room - 26) / (w + 2))]
    if narrow:
        # The heads lean, so their length becomes height.
        top = 16 + 0.89 * max((width(matrix.labels[1][slug][lang], SIZE) for slug in columns), default=0)
    cells, rows, totals = [], [], []
    for place, slug in enumerate(matrix.rows):
        y = top + place * (h + 2)
        rows.append(Label(room - 6, y + h / 2 + 4, tuple(lines(names[place], (room - 8) / _BOLD, SIZE)[:2])))
        totals.append((room + len(columns) * (w + 2) + 22, y + h / 2 + 4, matrix.row_totals[place]))
        for column, other in enumerate(columns):
            n = matrix.cells[place][column]
            cells.append(Cell(room + column * (w + 2), y, w, h, n, _shade(n), slug, other))
    heads = []
    for column, other in enumerate(columns):
        x = room + column * (w + 2) + w / 2
        text = matrix.labels[1][other][lang]
        heads.append(Label(x, top - 8, (text,) if narrow else tuple(lines(text, w - 4, 11.0)[:4])))
    bounds = [low for low, _ in _SHADES]
    most = max((cell.n for cell in cells), default=0)
    legend = [
        (cls, f"{low}" if high - low == 1 else f"{low}–{high - 1}")
        for (low, cls), high in zip(_SHADES, [*bounds[1:], most + 1], strict=True)
        if low <= most
    ]
    return Heat(
        room + len(columns) * (w + 2) + 26, top + len(rows) * (h + 2) + 4,
        tuple(heads), tuple(rows), tuple(cells), tuple(totals), tuple(legend),
    )  # fmt: skip


def _shade(n: int) -> str:
    return [cls for low, cls in _SHADES if n >= low][-1]


@dataclass(frozen=True)
class Bar:
    """One column of a bar chart; `part` is the marked share of its height."""

    x: float
    y: float
    w: float
    h: float
    n: int
    label: str
    part: float = 0.0


@dataclass(frozen=True)
class Bars:
    """A bar chart."""

    width: float
    height: float
    floor: float
    bars: tuple[Bar, ...]
    grid: tuple[tuple[float, int], ...]


def year_bars(
    counts: Mapping[str, int], *, width_: float, height: float = 150.0, part: Mapping[str, int] | None = None
) -> Bars:
    """Incidents by year, years without any drawn as such; `part` marks a share of each bar."""
    if not counts:
        return Bars(width_, height, height, (), ())
    years = [f"{year:04}" for year in range(int(min(counts)), int(max(counts)) + 1)]
    values = [counts.get(year, 0) for year in years]
    marked = [(part or {}).get(year, 0) for year in years]
    step = (width_ - 26) / len(years)
    every = math.ceil(34 / step)
    labels = [
        ("’" + year[2:] if step < 36 else year) if place % every == 0 or step > 20 else ""  # noqa: PLR2004
        for place, year in enumerate(years)
    ]
    return _bars(values, labels, width_, height, marked)


def duration_bars(found: Distribution, lang: Lang, *, width_: float, height: float = 150.0) -> Bars:
    """The histogram of a distribution, from its first to its last bucket that holds anything."""
    filled = [place for place, bucket in enumerate(found.buckets) if bucket.n]
    if not filled:
        return Bars(width_, height, height, (), ())
    shown = found.buckets[filled[0] : filled[-1] + 1]
    # Labels that would meet are left out, every second one.
    every = 2 if (width_ - 26) / len(shown) < _LABEL else 1
    labels = [
        (duration(bucket.low, lang) if bucket.low else "0") if place % every == 0 else ""
        for place, bucket in enumerate(shown)
    ]
    return _bars([bucket.n for bucket in shown], labels, width_, height, [])


def _bars(
    values: Sequence[int], labels: Sequence[str], wide: float, height: float, marked: Sequence[int]
) -> Bars:
    most = max([*values, 1])
    scale = (height - 24) / most
    step = (wide - 26) / len(values)
    bars = tuple(
        Bar(
            26 + place * step + step * 0.12,
            height - n * scale,
            step * 0.76,
            n * scale,
            n,
            labels[place],
            (marked[place] if marked else 0) * scale,
        )
        for place, n in enumerate(values)
    )
    apart = next(
        (size for size in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if most / size <= _MOST_LINES),
        most // 4 or 1,
    )
    grid = tuple((height - n * scale, n) for n in range(apart, most + 1, apart))
    return Bars(wide, height, height, bars, grid)
