"""Completions of ids, kinds, slugs and languages while somebody types."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import anyio.to_thread
from mcp.server.mcpserver import MCPServer
from mcp.types import (
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)

from pilotage.core.errors import PilotageError
from pilotage.library.catalogue import Catalogue
from pilotage.library.record import LANGS
from pilotage.library.terms import KINDS
from pilotage.web.checking import Offer
from pilotage.web.mcp.asking import audience
from pilotage.web.mcp.resources import CHECK, INCIDENT, TERM, VOCABULARY
from pilotage.web.mcp.words import kind_named, terms_in_force

_MOST = 100
"""More the protocol does not allow."""


def add_completions(server: MCPServer[Any], catalogue: Catalogue, offer: Offer) -> None:
    """Adds completion to a server."""

    async def complete(
        ref: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion | None:
        if isinstance(ref, PromptReference):
            return completed(argument.value, LANGS) if argument.name == "lang" else None
        given = (context.arguments if context else None) or {}
        known = await anyio.to_thread.run_sync(
            lambda: _known(catalogue, offer, ref.uri, argument.name, given)
        )
        return completed(argument.value, known)

    register: Callable[[Any], Any] = server.completion()  # type: ignore[no-untyped-call]
    register(complete)


def _known(catalogue: Catalogue, offer: Offer, uri: str, name: str, given: dict[str, str]) -> Iterable[str]:
    if uri == INCIDENT and name == "id":
        return catalogue.store.ids(audience())
    if uri == CHECK and name == "id":
        return offer.checks
    if uri in {VOCABULARY, TERM} and name == "kind":
        return KINDS
    if uri == TERM and name == "slug":
        try:
            kind = kind_named(given["kind"]) if given.get("kind") else None
        except PilotageError:
            return ()
        return (term.slug for term in terms_in_force(catalogue.vocabulary, kind))
    return ()


def completed(typed: str, known: Iterable[str]) -> Completion:
    """What a half-typed word may become: names that begin with it, then names that hold it."""
    word = typed.strip().lower()
    names = sorted(dict.fromkeys(known))
    first = [name for name in names if name.lower().startswith(word)]
    found = first + [name for name in names if word in name.lower() and not name.lower().startswith(word)]
    return Completion(values=found[:_MOST], total=len(found), has_more=len(found) > _MOST)
