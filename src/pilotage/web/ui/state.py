"""What a search page was asked, and the addresses of the pages one step from it. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from pilotage.core.errors import InvalidInput
from pilotage.library.stores.protocol import Tag
from pilotage.library.terms import FACETS

LONGEST_ADDRESS = 1800
"""A query that would make a longer address is sent as a form and shown without an address of its own."""
MOST_TERMS = 40
PAGE = 10


@dataclass(frozen=True)
class State:
    """A search.

    Attributes:
        text: the query, typed or pasted.
        terms: the facet terms that hits must bear.
        cursor: where its hits go on; nothing at their beginning.
    """

    text: str = ""
    terms: tuple[Tag, ...] = ()
    cursor: str = ""

    @property
    def empty(self) -> bool:
        """Whether nothing is asked."""
        return not self.text.strip() and not self.terms

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The parameters of its address."""
        found = [("q", self.text)] if self.text else []
        found += [("facet", f"{facet}:{slug}") for facet, slug in self.terms]
        return [*found, ("cursor", self.cursor)] if self.cursor else found

    @property
    def short(self) -> bool:
        """Whether the whole state fits into an address."""
        return len(urlencode(self.pairs)) <= LONGEST_ADDRESS

    def without(self, term: Tag) -> State:
        """The search without a term, from its beginning."""
        return replace(self, terms=tuple(one for one in self.terms if one != term), cursor="")

    def adding(self, *terms: Tag) -> State:
        """The search with more terms, from its beginning."""
        return replace(self, terms=tuple(dict.fromkeys([*self.terms, *terms])), cursor="")

    def at(self, cursor: str | None) -> State:
        """Another part of the hits; without a cursor, their beginning."""
        return replace(self, cursor=cursor or "")

    def saying(self, text: str) -> State:
        """The search with another query."""
        return replace(self, text=text, cursor="")

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
