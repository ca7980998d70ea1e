"""The arguments that several tools share: type, limits and the description that an agent reads."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field

from pilotage.core.cursors import LONGEST
from pilotage.library.record import Lang
from pilotage.library.terms import KINDS
from pilotage.web.mcp.budget import LEAST_TOKENS, MOST_TOKENS
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
        description="Symptom, error, question, or a pasted log of up to 20 kB, in English or "
        'Korean. "Quoted phrases" must be there, -words must not. '
        'Example: "pods turn unready one after another".'
    ),
]
Facets = Annotated[
    list[str],
    BeforeValidator(listed),
    Field(
        description="Terms that every incident must bear: facet=value, a slug, label or synonym. Facets: "
        "organisation, year, domain, component, symptom, root_cause, contributing, detection, remediation, "
        'severity, source_kind, status. Example: ["component=coredns", "year=2019"].',
        max_length=8,
    ),
]
AsFacets = Annotated[
    list[str],
    BeforeValidator(listed),
    Field(description='As in list_incidents. Example: ["component=coredns", "year=2019"].', max_length=8),
]
TopicFacets = Annotated[
    list[str],
    BeforeValidator(listed),
    Field(
        description='Terms, as in list_incidents. Example: ["component=ingress", "symptom=oom-killed"].',
        max_length=8,
        min_length=1,
    ),
]
Language = Annotated[Lang | None, Field(description="Language of the answer.")]
Limit = Annotated[int, Field(ge=1, le=MOST_ITEMS, description="Most items. Example: 5.")]
Cursor = Annotated[
    str | None,
    Field(
        description='next of the page before, other arguments unchanged. Example: "ej0QRpyRLw0AAAAD".',
        max_length=LONGEST,
    ),
]
Format = Annotated[Literal["concise", "detailed"], Field(description="How much of each item.")]
MaxTokens = Annotated[
    int,
    Field(
        ge=LEAST_TOKENS,
        le=MOST_TOKENS,
        description="Budget of this answer. Example: 3000.",
    ),
]
Id = Annotated[
    str,
    Field(
        description='Id or former id of an incident. Example: "zalando-2019-skipper-ingress-oom-alb-502".',
        max_length=200,
    ),
]
Sections = Annotated[
    list[Section],
    BeforeValidator(listed),
    Field(
        description='Only these; omitted: those of response_format. Example: ["mechanism", "remediation"].',
        max_length=len(get_args(Section)),
    ),
]
KindName = Annotated[
    str | None,
    Field(
        description=f'One of {", ".join(KINDS)}; omitted: all. Example: "components".',
        max_length=60,
    ),
]
TermQuery = Annotated[
    str | None,
    Field(
        description="What a term may be called, in English or Korean; misspellings are forgiven. "
        'Example: "thundering herd".',
        max_length=300,
    ),
]
