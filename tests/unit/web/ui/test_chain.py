"""The drawings of a mechanism: complete, sound, and always the same."""

from __future__ import annotations

import functools
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pilotage.library.bundled import bundled_candidates
from pilotage.library.record import Record, Step, Text, read_record
from pilotage.web.ui.chain import graph_of
from pilotage.web.ui.chain_tall import tall
from pilotage.web.ui.chain_text import lines, width
from pilotage.web.ui.chain_wide import WIDTH, Arrow, Box, wide

KINDS = ("latent_condition", "trigger", "propagation", "amplification", "containment")


@functools.cache
def records() -> tuple[Record, ...]:
    return tuple(read_record(candidate.document) for candidate in bundled_candidates())


def steps_of(kinds: list[str], targets: list[list[int]]) -> list[Step]:
    names = [f"s{number}" for number in range(len(kinds))]
    return [
        Step(
            id=names[place],
            kind=kind,
            label=Text(en=f"Step number {place} of this", ko=f"{place}번째 단계"),
            text=Text(en="A sentence.", ko="문장이다."),
            leads_to=[names[target % len(names)] for target in targets[place]],
        )
        for place, kind in enumerate(kinds)
    ]


@st.composite
def mechanisms(draw: st.DrawFn) -> list[Step]:
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=14))
    targets = [draw(st.lists(st.integers(0, 13), max_size=3)) for _ in kinds]
    return steps_of(kinds, targets)


def touches(point: tuple[float, float], box: Box) -> bool:
    x, y = point
    return box.x - 9 <= x <= box.x + box.w + 9 and box.y - 3 <= y <= box.y + box.h + 3


def crosses(one: tuple[float, float], other: tuple[float, float], box: Box) -> bool:
    """Whether a stretch of a line runs through the inside of a box."""
    (x0, x1), (y0, y1) = sorted((one[0], other[0])), sorted((one[1], other[1]))
    return x0 < box.x + box.w - 2 and x1 > box.x + 2 and y0 < box.y + box.h - 2 and y1 > box.y + 2


def check(steps: list[Step]) -> None:
    graph = graph_of(steps, "en")
    drawing = wide(graph)
    boxes = {box.node.id: box for box in drawing.boxes}
    assert sorted(boxes) == sorted(step.id for step in steps)
    assert sorted(box.node.number for box in drawing.boxes) == list(range(1, len(steps) + 1))
    drawn = [(arrow.edge.source, arrow.edge.target) for arrow in drawing.arrows]
    assert sorted(drawn) == sorted(
        (step.id, target) for step in steps for target in dict.fromkeys(step.leads_to)
    )
    for one, other in itertools.combinations(drawing.boxes, 2):
        apart = one.x + one.w <= other.x or other.x + other.w <= one.x
        assert apart or one.y + one.h <= other.y or other.y + other.h <= one.y
    for box in drawing.boxes:
        assert box.x >= 0
        assert box.x + box.w <= WIDTH
        assert box.y + box.h <= drawing.height
    for arrow in drawing.arrows:
        check_arrow(arrow, boxes)


def check_arrow(arrow: Arrow, boxes: dict[str, Box]) -> None:
    assert touches(arrow.points[0], boxes[arrow.edge.source])
    assert touches(arrow.points[-1], boxes[arrow.edge.target])
    for one, other in itertools.pairwise(arrow.points):
        assert one[0] == pytest.approx(other[0]) or one[1] == pytest.approx(other[1])
        for box in boxes.values():
            assert not crosses(one, other, box), (arrow.edge, box.node.id)


def test_every_bundled_mechanism_is_drawn_whole() -> None:
    for record in records():
        check(record.mechanism)


@given(mechanisms())
def test_any_mechanism_is_drawn_whole(steps: list[Step]) -> None:
    check(steps)


@given(mechanisms())
def test_the_narrow_drawing_holds_every_step_and_notes_the_rest(steps: list[Step]) -> None:
    graph = graph_of(steps, "ko")
    drawing = tall(graph)
    assert [box.node.number for box, _ in drawing.boxes] == list(range(1, len(steps) + 1))
    assert all(box.x + box.w <= 300 and box.y + box.h <= drawing.height for box, _ in drawing.boxes)
    noted = sum(len(note.numbers) for _, notes in drawing.boxes for note in notes)
    beside = sum(edge.kind == "next" for edge in graph.edges)
    assert noted + beside == len(graph.edges)
    assert len(drawing.arrows) == sum(edge.kind in {"next", "skip", "loop"} for edge in graph.edges)


@given(mechanisms())
def test_the_same_mechanism_gives_the_same_drawing(steps: list[Step]) -> None:
    assert wide(graph_of(steps, "en")) == wide(graph_of(steps, "en"))
    assert tall(graph_of(steps, "en")) == tall(graph_of(steps, "en"))


def test_a_loop_is_one() -> None:
    graph = graph_of(steps_of(["trigger", "propagation", "amplification"], [[1], [2], [1]]), "en")
    assert [(edge.source, edge.target) for edge in graph.loops()] == [("s2", "s1")]
    assert [note.word for note in graph.notes(graph.by_id["s2"])] == ["chain_back"]
    assert [arrow.edge.kind for arrow in wide(graph).arrows].count("loop") == 1


@given(st.text(max_size=200), st.floats(60, 300))
def test_no_line_is_wider_than_its_room(text: str, room: float) -> None:
    for line in lines(text, room, 13.4):
        assert width(line, 13.4) <= room or len(line) == 1
