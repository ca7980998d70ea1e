"""The narrow drawing of a mechanism: one column, arrows that skip or lead back on rails beside it. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from pilotage.web.ui.chain import Edge, Graph, Note
from pilotage.web.ui.chain_text import lines
from pilotage.web.ui.chain_wide import Arrow, Box, room_for

WIDTH = 300.0
_RAIL = 9.0
_GAP = 24.0
_SIZE = 13.4
_LINE = 17.0
_HEAD = 44.0
_FOOT = 13.0


@dataclass(frozen=True)
class Tall:
    """The drawing.

    Attributes:
        height: of the whole; the width is `WIDTH`.
        boxes: every step once, with what it says of steps that it is not drawn next to.
        arrows: those between steps of the sequence; the others stand in the notes.
        water: y of the line under what lay beneath; 0 where nothing did.
    """

    height: float
    boxes: tuple[tuple[Box, tuple[Note, ...]], ...]
    arrows: tuple[Arrow, ...]
    water: float


def tall(graph: Graph) -> Tall:
    """The narrow drawing of a mechanism."""
    loops = [edge for edge in graph.edges if edge.kind == "loop"]
    skips = [edge for edge in graph.edges if edge.kind == "skip"]
    x = 3.0 + (len(skips) and 8 + _RAIL * len(skips))
    w = WIDTH - x - 3.0 - (len(loops) and 11 + _RAIL * len(loops))
    boxes: dict[str, tuple[Box, tuple[Note, ...]]] = {}
    y = 4.0
    for node in graph.nodes:
        broken = tuple(lines(node.label, room_for(node, w), _SIZE))
        notes = tuple(graph.notes(node))
        # Notes share the first line with the kind; more than one gets lines of their own.
        h = _HEAD + _LINE * (len(broken) - 1) + _FOOT + _LINE * max(0, len(notes) - 1)
        boxes[node.id] = (Box(node, x, y, w, h, broken), notes)
        y += h + _GAP
    beneath = [box for box, _ in boxes.values() if box.node.kind == "latent"]
    return Tall(
        height=y - _GAP + 4.0,
        boxes=tuple(boxes.values()),
        arrows=tuple(_arrows(graph, {key: box for key, (box, _) in boxes.items()}, loops, skips)),
        water=max((box.y + box.h + _GAP / 2 for box in beneath), default=0.0),
    )


def _arrows(graph: Graph, boxes: dict[str, Box], loops: list[Edge], skips: list[Edge]) -> list[Arrow]:
    found = []
    for edge in graph.edges:
        one, other = boxes[edge.source], boxes[edge.target]
        if edge.kind == "next":
            at = one.x + 37
            found.append(Arrow(edge, ((at, one.y + one.h + 1), (at, other.y - 1))))
        elif edge.kind in {"loop", "skip"}:
            found.append(_rail(edge, one, other, loops if edge.kind == "loop" else skips))
    return found


def _rail(edge: Edge, one: Box, other: Box, rails: list[Edge]) -> Arrow:
    """An arrow on a rail; each rail has one, and arrows of one box leave it at different heights."""
    place = rails.index(edge)
    right = edge.kind == "loop"
    side = one.x + one.w + 1 if right else one.x - 1
    rail = side + (10 + _RAIL * place) * (1 if right else -1)
    start = one.y + one.h * (0.62 if edge.source != edge.target else 0.75) + 5 * (place % 2)
    end = other.y + other.h * 0.34 + 6 * (place % 3)
    return Arrow(edge, ((side, start), (rail, start), (rail, end), (side, end)))
