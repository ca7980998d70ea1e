"""The wide drawing of a mechanism: three lanes, columns in causal order, arrows along free channels. Pure.

Containment stands above, what happened at the waterline, what lay beneath under it. Arrows leave a box
upwards or downwards into the channel between two lanes and run along it; where they change channels they
use the gap between two columns. So no arrow ever crosses a box.
"""

from __future__ import annotations

from dataclasses import dataclass

from pilotage.web.ui.chain import Edge, Graph, Node
from pilotage.web.ui.chain_text import lines

WIDTH = 1180.0
MARGIN = 14.0
MOST_COLUMNS = 6
_WIDEST = 232.0
_LEAST_GAP = 26.0
_MOST_GAP = 64.0
_SIZE = 13.4
_LINE = 17.0
_HEAD = 44.0
_FOOT = 14.0
_CAPTION = 26.0
_CHANNEL = 30.0
_TRACK = 13.0
_UP, _DOWN = 0, 1
_BENEATH = 2

Channel = tuple[int, int]
"""(row, `_UP` above the sequence or `_DOWN` beneath it)."""


@dataclass(frozen=True)
class Box:
    """A step as it is drawn."""

    node: Node
    x: float
    y: float
    w: float
    h: float
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Arrow:
    """An edge as it is drawn: corner points from the source to the target."""

    edge: Edge
    points: tuple[tuple[float, float], ...]

    @property
    def path(self) -> str:
        """The line as SVG path data, with rounded corners."""
        return rounded(self.points)

    @property
    def tip(self) -> tuple[float, float, str]:
        """Where it ends and from where it comes: `left`, `up` or `down`."""
        (x0, y0), (x1, y1) = self.points[-2:]
        if abs(y1 - y0) < abs(x1 - x0):
            return x1, y1, "right" if x1 > x0 else "left"
        return x1, y1, "down" if y1 > y0 else "up"


@dataclass(frozen=True)
class Wide:
    """The drawing.

    Attributes:
        height: of the whole; the width is `WIDTH`.
        boxes: every step once.
        arrows: every edge once.
        captions: (word of the catalogue, y) of each lane.
        water: (y of the waterline, y of the ground) of each row.
    """

    height: float
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    captions: tuple[tuple[str, float], ...]
    water: tuple[tuple[float, float], ...]


@dataclass
class _Cell:
    node: Node
    row: int
    column: int
    x: float = 0.0
    y: float = 0.0
    h: float = 0.0


@dataclass
class _Row:
    tops: list[float]
    heights: list[float]
    channels: dict[int, float]


def wide(graph: Graph) -> Wide:
    """The wide drawing of a mechanism."""
    cells = _place(graph)
    columns = 1 + max((cell.column for cell in cells.values()), default=0)
    gap = min(_MOST_GAP, max(_LEAST_GAP, (WIDTH - 2 * MARGIN) / columns - _WIDEST))
    w = min(_WIDEST, (WIDTH - 2 * MARGIN - gap * columns) / columns)
    left = (WIDTH - columns * w - (columns - 1) * gap) / 2
    for cell in cells.values():
        cell.x = left + cell.column * (w + gap)
    broken = {
        key: tuple(lines(cell.node.label, room_for(cell.node, w), _SIZE)) for key, cell in cells.items()
    }
    router = _Router(graph, cells, w, gap)
    rows = _stack(cells, broken, router)
    for cell in cells.values():
        cell.y = rows[cell.row].tops[cell.node.lane]
        cell.h = rows[cell.row].heights[cell.node.lane]
    names = ("chain_above", "chain_happened", "chain_beneath")
    return Wide(
        height=max((row.tops[2] + row.heights[2] for row in rows), default=0.0) + MARGIN,
        boxes=tuple(Box(cell.node, cell.x, cell.y, w, cell.h, broken[key]) for key, cell in cells.items()),
        arrows=tuple(router.arrow(edge, rows) for edge in graph.edges),
        captions=tuple(
            (names[lane], row.tops[lane] - 9) for row in rows[:1] for lane in range(3) if row.heights[lane]
        ),
        water=tuple((row.channels[_DOWN] - 4, row.tops[2] + row.heights[2] + MARGIN) for row in rows),
    )


def room_for(node: Node, w: float) -> float:
    """How wide a line within the box of a step may be: that of the trigger ends in a point."""
    return w - (38 if node.kind == "trigger" else 28)


def _place(graph: Graph) -> dict[str, _Cell]:
    sequence = graph.lane(1)
    rows = max(1, -(-len(sequence) // MOST_COLUMNS))
    per_row = max(1, -(-len(sequence) // rows))
    cells: dict[str, _Cell] = {}
    for place, node in enumerate(sequence):
        cells[node.id] = _Cell(node, place // per_row, place % per_row)
    # Latent conditions first: a containment may stop one of them and then stands above it.
    for lane in (2, 0):
        taken: set[tuple[int, int]] = set()
        for node in graph.lane(lane):
            row, column = _wanted(graph, node, cells)
            free = [c for c in range(max(MOST_COLUMNS, column + 1) + len(taken)) if (row, c) not in taken]
            best = min(free, key=lambda c: (c >= per_row, abs(c - column), c))
            taken.add((row, best))
            cells[node.id] = _Cell(node, row, best)
    return {node.id: cells[node.id] for node in graph.nodes}


def _wanted(graph: Graph, node: Node, cells: dict[str, _Cell]) -> tuple[int, int]:
    targets = [edge.target for edge in graph.edges if edge.source == node.id and edge.target in cells]
    if not targets:
        return 0, 0
    first = cells[targets[0]]
    return first.row, first.column


class _Router:
    """Finds a way for every edge; tracks within a channel are shared by edges that do not overlap."""

    def __init__(self, graph: Graph, cells: dict[str, _Cell], w: float, gap: float) -> None:
        self.cells = cells
        self.w = w
        self.gap = gap
        self.direct = {edge for edge in graph.edges if self._beside(edge)}
        self.routed = [edge for edge in graph.edges if edge not in self.direct]
        self.ports = self._ports()
        self.channels = {channel for edge in self.routed for channel in self._ends(edge)}
        self.gutters = self._gutters()
        self.tracks: dict[tuple[Edge, Channel], int] = {}
        self.depth: dict[Channel, int] = {}
        for edge in self.routed:
            self._lay(edge)

    def _beside(self, edge: Edge) -> bool:
        one, other = self.cells[edge.source], self.cells[edge.target]
        return edge.kind == "next" and one.row == other.row and other.column == one.column + 1

    def _channel(self, cell: _Cell, edge: Edge) -> Channel:
        down = edge.kind in {"loop", "beneath"} or cell.node.kind == "latent"
        if cell.node.lane == 1 and edge.kind == "other":
            other = self.cells[edge.target if edge.source == cell.node.id else edge.source]
            down = other.node.kind == "latent"
        if cell.node.kind == "containment":
            down = False
        if edge.kind == "next":
            down = edge.source == cell.node.id
        return cell.row, _DOWN if down else _UP

    def _ends(self, edge: Edge) -> tuple[Channel, Channel]:
        return self._channel(self.cells[edge.source], edge), self._channel(self.cells[edge.target], edge)

    def _ports(self) -> dict[tuple[Edge, str], float]:
        """Where each edge leaves or meets a box, from left to right as its other end lies."""
        sides: dict[tuple[str, int], list[tuple[float, int, Edge, str]]] = {}
        for edge in self.routed:
            for end, this, other in (("s", edge.source, edge.target), ("t", edge.target, edge.source)):
                channel = self._channel(self.cells[this], edge)
                towards = self.cells[other].x if other != this else (0.0 if end == "t" else WIDTH)
                sides.setdefault((this, channel[1]), []).append((towards, ("s", "t").index(end), edge, end))
        found: dict[tuple[Edge, str], float] = {}
        for (name, _), users in sides.items():
            users.sort(key=lambda item: (item[0], item[1], item[2].source, item[2].target))
            for place, (_, _, edge, end) in enumerate(users, start=1):
                found[edge, end] = self.cells[name].x + self.w * place / (len(users) + 1)
        for edge in self.routed:
            self._straighten(edge, sides, found)
        return found

    def _straighten(
        self,
        edge: Edge,
        sides: dict[tuple[str, int], list[tuple[float, int, Edge, str]]],
        found: dict[tuple[Edge, str], float],
    ) -> None:
        # A box with one arrow meets it straight where it stands above or beneath its target.
        one, other = self.cells[edge.source], self.cells[edge.target]
        alone = len(sides[edge.source, self._channel(one, edge)[1]]) == 1
        if alone and one.column == other.column and one.node.lane != other.node.lane:
            found[edge, "s"] = found[edge, "t"]

    def _gutters(self) -> dict[Edge, float]:
        """Where each edge changes channels: in the gap left of its target's column."""
        users: dict[int, list[Edge]] = {}
        for edge in self.routed:
            start, end = self._ends(edge)
            if start != end:
                users.setdefault(self.cells[edge.target].column, []).append(edge)
        found: dict[Edge, float] = {}
        for column, edges in users.items():
            beside = next(cell.x for cell in self.cells.values() if cell.column == column)
            right = beside - self.gap * 0.3
            left = max(3.0, right - self.gap * 0.4)
            for place, edge in enumerate(edges):
                found[edge] = right - (right - left) * place / max(1, len(edges) - 1, 3)
        return found

    def _spans(self, edge: Edge) -> list[tuple[Channel, float, float]]:
        start, end = self._ends(edge)
        source, target = self.ports[edge, "s"], self.ports[edge, "t"]
        if start == end:
            return [(start, source, target)] if source != target else []
        gutter = self.gutters[edge]
        return [(start, source, gutter), (end, gutter, target)]

    def _lay(self, edge: Edge) -> None:
        for channel, one, other in self._spans(edge):
            low, high = sorted((one, other))
            track = 0
            while any(
                self.tracks.get((done, channel)) == track and low < b + 6 and a < high + 6
                for done in self.routed
                for place, *ends in (self._spans(done) if (done, channel) in self.tracks else ())
                if place == channel
                for a, b in [sorted(ends)]
            ):
                track += 1
            self.tracks[edge, channel] = track
            self.depth[channel] = max(self.depth.get(channel, 0), track + 1)

    def arrow(self, edge: Edge, rows: list[_Row]) -> Arrow:
        """The way of an edge."""
        one, other = self.cells[edge.source], self.cells[edge.target]
        if edge in self.direct:
            y = one.y + one.h / 2
            # The trigger's box ends in a point.
            return Arrow(
                edge, ((one.x + self.w + (7 if one.node.kind == "trigger" else 1), y), (other.x - 1, y))
            )
        start, end = self._ends(edge)
        first = (self.ports[edge, "s"], _side(one, start[1]))
        last = (self.ports[edge, "t"], _side(other, end[1]))
        points = [first]
        for channel, a, b in self._spans(edge):
            y = self._y(edge, channel, rows)
            points += [(a, y), (b, y)]
        return Arrow(edge, tuple(_distinct([*points, last])))

    def _y(self, edge: Edge, channel: Channel, rows: list[_Row]) -> float:
        row, side = channel
        top = rows[row].channels[side]
        depth = self.depth.get(channel, 1)
        track = self.tracks.get((edge, channel), 0)
        # Loops run close to the boxes above them, arrows over the sequence close to the boxes beneath.
        return top + 16 + (track if side == _DOWN else depth - 1 - track) * _TRACK


def _side(cell: _Cell, side: int) -> float:
    """The edge of a box that faces a channel."""
    if cell.node.lane == 0:
        return cell.y + cell.h + 1
    if cell.node.lane == _BENEATH:
        return cell.y - 1
    return cell.y - 1 if side == _UP else cell.y + cell.h + 1


def _stack(cells: dict[str, _Cell], broken: dict[str, tuple[str, ...]], router: _Router) -> list[_Row]:
    """The heights of lanes and channels from the top downwards."""
    rows: list[_Row] = []
    y = 4.0
    for number in range(1 + max((cell.row for cell in cells.values()), default=0)):
        tops, heights, channels = [], [], {}
        for lane in range(3):
            own = [key for key, cell in cells.items() if cell.row == number and cell.node.lane == lane]
            height = max((_HEAD + _LINE * (len(broken[key]) - 1) + _FOOT for key in own), default=0.0)
            if height:
                y += _CAPTION if number == 0 and lane != 1 else 8.0
            if lane == 1:
                y += _CAPTION if number == 0 else 0.0
            tops.append(y)
            heights.append(height)
            y += height
            if lane < _BENEATH:
                channels[lane] = y
                deep = router.depth.get((number, lane), 0)
                y += (
                    _CHANNEL + _TRACK * max(0, deep - 1) if deep or (number, lane) in router.channels else 6.0
                )
        rows.append(_Row(tops, heights, channels))
        y += 34.0
    return rows


def _distinct(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    found = [points[0]]
    for point in points[1:]:
        if abs(point[0] - found[-1][0]) > 0.05 or abs(point[1] - found[-1][1]) > 0.05:  # noqa: PLR2004
            found.append(point)
    return found


def rounded(points: tuple[tuple[float, float], ...], radius: float = 8.0) -> str:
    """SVG path data of a line with rounded corners."""
    x, y = points[0]
    parts = [f"M{_n(x)} {_n(y)}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        room = min(radius, _length(before, corner) / 2, _length(corner, after) / 2)
        ax, ay = _towards(corner, before, room)
        bx, by = _towards(corner, after, room)
        parts.append(f"L{_n(ax)} {_n(ay)}Q{_n(corner[0])} {_n(corner[1])} {_n(bx)} {_n(by)}")
    x, y = points[-1]
    return "".join([*parts, f"L{_n(x)} {_n(y)}"])


def _length(one: tuple[float, float], other: tuple[float, float]) -> float:
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def _towards(start: tuple[float, float], end: tuple[float, float], by: float) -> tuple[float, float]:
    whole = _length(start, end) or 1.0
    return start[0] + (end[0] - start[0]) * by / whole, start[1] + (end[1] - start[1]) * by / whole


def _n(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")
