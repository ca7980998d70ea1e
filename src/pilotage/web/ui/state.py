"""What a search page was asked, and the addresses of the pages one step from it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from pilotage.core.errors import InvalidInput
from pilotage.library.stores.protocol import Tag
from pilotage.library.terms import FACETS

LONGEST_ADDRESS = 1800
"""A query that would make a longer address is sent as a form and shown without an address of its own."""
MOST_TERMS = 40
PAGE = 10
DEEPEST = 100_000


@dataclass(frozen=True)
class State:
    """A search.

    Attributes:
        text: the query, typed or pasted.
        terms: the facet terms that hits must bear.
        offset: hits to pass over.
    """

    text: str = ""
    terms: tuple[Tag, ...] = ()
    offset: int = 0

    @property
    def empty(self) -> bool:
        """Whether nothing is asked."""
        return not self.text.strip() and not self.terms

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The parameters of its address."""
        found = [("q", self.text)] if self.text else []
        found += [("facet", f"{facet}:{slug}") for facet, slug in self.terms]
        return [*found, ("offset", str(self.offset))] if self.offset else found

    @property
    def short(self) -> bool:
        """Whether the whole state fits into an address."""
        return len(urlencode(self.pairs)) <= LONGEST_ADDRESS

    def without(self, term: Tag) -> State:
        """The search without a term, from its beginning."""
        return replace(self, terms=tuple(one for one in self.terms if one != term), offset=0)

    def adding(self, *terms: Tag) -> State:
        """The search with more terms, from its beginning."""
        return replace(self, terms=tuple(dict.fromkeys([*self.terms, *terms])), offset=0)

    def at(self, offset: int) -> State:
        """Another part of the hits."""
        return replace(self, offset=max(0, offset))

    def saying(self, text: str) -> State:
        """The search with another query."""
        return replace(self, text=text, offset=0)

    def only_text(self) -> State:
        """The search without its terms."""
        return State(self.text)


def facet_words(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """The `facet:value` words of an address: `facet=component:ingress` and `component=ingress` alike.

    Raises:
        InvalidInput: there are more than anyone would mean.
    """
    found = []
    for key, value in pairs:
        if key == "facet" and value:
            found.append(value)
        elif key in FACETS and value:
            found.append(f"{key}:{value}")
    if len(found) > MOST_TERMS:
        raise InvalidInput(
            f"{len(found)} facet terms are too many", hint=f"At most {MOST_TERMS} may be given."
        )
    return found


def offset_of(values: Mapping[str, str]) -> int:
    """The `offset` of an address.

    Raises:
        InvalidInput: it is no number, or one that no list reaches.
    """
    text = values.get("offset", "") or "0"
    if not text.isascii() or not text.isdigit() or int(text[:9]) > DEEPEST:
        raise InvalidInput(f"'{text[:40]}' is no offset", hint=f"Give a number from 0 to {DEEPEST}.")
    return int(text)
