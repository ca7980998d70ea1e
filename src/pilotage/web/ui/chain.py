"""The mechanism as a graph in the order in which it is drawn and told. Pure.

Both drawings and the list rest on this one order: what lay beneath, what happened, what ended it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from pilotage.core.text import printable, shorten
from pilotage.library.record import Lang, Step

Kind = Literal["latent", "trigger", "propagation", "amplification", "containment"]
EdgeKind = Literal["next", "skip", "loop", "beneath", "stops", "other"]
LANES: dict[str, int] = {"containment": 0, "trigger": 1, "propagation": 1, "amplification": 1, "latent": 2}
"""Kind -> lane, from above: what ended it, what happened, what lay beneath."""

LONGEST_LABEL = 120
"""Labels of records that nobody has edited may be whole sentences; a drawing shows so much of them."""


@dataclass(frozen=True)
class Node:
    """A step with its number.

    Attributes:
        id: of the step.
        number: place in the order of telling, from 1.
        kind: what it does.
        label: what stands in the drawing.
        text: the step as a sentence.
    """

    id: str
    number: int
    kind: Kind
    label: str
    text: str

    @property
    def lane(self) -> int:
        """See `LANES`."""
        return LANES[self.kind]


@dataclass(frozen=True)
class Edge:
    """An arrow from one step to another."""

    source: str
    target: str
    kind: EdgeKind


@dataclass(frozen=True)
class Note:
    """What a step says of another one that it is not drawn next to: a word of the catalogue and numbers."""

    word: str
    numbers: tuple[int, ...]

    @property
    def listed(self) -> str:
        """The numbers for a reader: `4, 6`."""
        return ", ".join(str(number) for number in self.numbers)


@dataclass(frozen=True)
class Graph:
    """A mechanism.

    Attributes:
        nodes: in the order of telling.
        edges: in the order of their sources.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    by_id: dict[str, Node] = field(default_factory=dict)

    def lane(self, number: int) -> list[Node]:
        """The steps of a lane."""
        return [node for node in self.nodes if node.lane == number]

    def loops(self) -> list[Edge]:
        """The arrows that lead back."""
        return [edge for edge in self.edges if edge.kind == "loop"]

    def count(self, kind: str) -> int:
        """Number of steps of a kind."""
        return sum(node.kind == kind for node in self.nodes)

    def kinds(self) -> list[Kind]:
        """The kinds that occur, in the order of telling."""
        return list(dict.fromkeys(node.kind for node in self.nodes))

    def notes(self, node: Node) -> list[Note]:
        """What the step leads to, in words; an arrow to the step right after it needs none."""
        words = {
            "beneath": "chain_under",
            "stops": "chain_stops",
            "loop": "chain_back",
            "skip": "chain_also",
            "other": "chain_to",
        }
        found: dict[str, list[int]] = {}
        for edge in self.edges:
            if edge.source == node.id and edge.kind in words:
                found.setdefault(words[edge.kind], []).append(self.by_id[edge.target].number)
        return [Note(word, tuple(sorted(numbers))) for word, numbers in found.items()]


def graph_of(steps: Sequence[Step], lang: Lang) -> Graph:
    """The graph of a mechanism in a language."""
    ordered = sorted(steps, key=lambda step: {0: 2, 1: 1, 2: 0}[LANES[_kind(step)]])
    nodes = [
        Node(
            id=step.id,
            number=number,
            kind=_kind(step),
            label=shorten(printable(step.label.get(lang) or step.text.get(lang) or step.id), LONGEST_LABEL),
            text=step.text.get(lang) or step.label.get(lang),
        )
        for number, step in enumerate(ordered, start=1)
    ]
    by_id = {node.id: node for node in nodes}
    sequence = [node.id for node in nodes if node.lane == 1]
    edges = [
        Edge(step.id, target, _edge_kind(by_id[step.id], by_id[target], sequence))
        for step in ordered
        for target in dict.fromkeys(step.leads_to)
    ]
    return Graph(tuple(nodes), tuple(edges), by_id)


def _kind(step: Step) -> Kind:
    return "latent" if step.kind == "latent_condition" else step.kind


def _edge_kind(source: Node, target: Node, sequence: list[str]) -> EdgeKind:
    if source.lane == target.lane == 1:
        ahead = sequence.index(target.id) - sequence.index(source.id)
        if ahead == 1:
            return "next"
        return "skip" if ahead > 1 else "loop"
    if source.kind == "latent" and target.lane == 1:
        return "beneath"
    if source.kind == "containment" and target.kind != "containment":
        return "stops"
    return "other"
