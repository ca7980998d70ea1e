"""The arguments that several tools share: type, limits and the description that an agent reads."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field

from pilotage.library.record import Lang
from pilotage.library.terms import KINDS
from pilotage.web.mcp.budget import DEFAULT_TOKENS, LEAST_TOKENS, MOST_TOKENS
from pilotage.web.mcp.details import Section

MOST_ITEMS = 50


def listed(value: Any) -> Any:
    """A single value as a list: models often write one where a list is asked for."""
    if isinstance(value, str):
        return [value] if value.strip() else []
    return value


Query = Annotated[
    str,
    Field(
        description="What is seen or asked, in English or Korean: a symptom, an error, a question, or a "
        'pasted log or alert of up to 20 kB. "Quoted phrases" must be there, -words must not. '
        'Example: "pods turn unready one after another behind the ingress".'
    ),
]
Facets = Annotated[
    list[str],
    BeforeValidator(listed),
    Field(
        description="Terms that every incident must bear, each as facet=value; facets are organisation, "
        "year, domain, component, symptom, root_cause, contributing, detection, remediation, severity, "
        "source_kind, status. A value is a slug, a label or a synonym in English or Korean. Unknown ones "
        'are refused with the nearest known ones. Example: ["component=coredns", "year=2019"].',
        max_length=8,
    ),
]
Terms = Annotated[Facets, Field(min_length=1)]
Language = Annotated[
    Lang | None,
    Field(
        description="Language of titles and texts, en or ko; queries may be in either whatever this is. "
        'Omitted: the language of the server, normally en. Example: "ko".'
    ),
]
Limit = Annotated[
    int,
    Field(
        ge=1,
        le=MOST_ITEMS,
        description="Most items of this answer, 1 to 50; fewer come when max_tokens is reached. Example: 5.",
    ),
]
Cursor = Annotated[
    str | None,
    Field(
        description="next_cursor of the answer before, unchanged and with the same other arguments (limit "
        'and max_tokens may differ); omitted: from the start. Example: "WzUsImE5ZjMwMmMxNGQwMiJd".',
        max_length=400,
    ),
]
Format = Annotated[
    Literal["concise", "detailed"],
    Field(
        description='concise: enough to choose by. detailed: the full form named above. Example: "detailed".'
    ),
]
MaxTokens = Annotated[
    int,
    Field(
        ge=LEAST_TOKENS,
        le=MOST_TOKENS,
        description="Budget of this answer in estimated tokens, 1000 to 25000, kept by leaving out whole "
        f"items, which the answer says; text is never cut. Default {DEFAULT_TOKENS}. Example: 3000.",
    ),
]
Id = Annotated[
    str,
    Field(
        description="Id or former id of an incident, as search_incidents and list_incidents give it. "
        'Example: "skyscanner-2019-04-23-haproxy-ingress-hot-podding".',
        max_length=200,
    ),
]
Sections = Annotated[
    list[Section],
    BeforeValidator(listed),
    Field(
        description="Only these sections, whatever response_format says; empty: those of the format. "
        'Example: ["mechanism", "remediation"].',
        max_length=len(get_args(Section)),
    ),
]
KindName = Annotated[
    str | None,
    Field(
        description=f"One of {', '.join(KINDS)}; omitted: all of them when there is a query, else the list "
        'of kinds. Example: "components".',
        max_length=60,
    ),
]
TermQuery = Annotated[
    str | None,
    Field(
        description="A word or a few in English or Korean that a term may be called by; misspellings are "
        'forgiven. Omitted: all terms of the kind. Example: "thundering herd".',
        max_length=300,
    ),
]
