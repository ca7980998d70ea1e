"""The arguments of the tools of checks."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from pilotage.web.mcp.arguments import listed
from pilotage.web.mcp.check_answers import Level

_Names = Annotated[list[Annotated[str, Field(max_length=200)]], BeforeValidator(listed)]

CheckQuery = Annotated[
    str | None,
    Field(
        description="Words, all of which must stand in a check's id, title, family or description, in "
        'English. Omitted: all checks. Example: "webhook timeout".',
        max_length=200,
    ),
]
Levels = Annotated[
    list[Level],
    BeforeValidator(listed),
    Field(
        description="Only these severities (critical, high, medium, low); empty: all. "
        'Example: ["critical", "high"].',
        max_length=4,
    ),
]
Families = Annotated[
    _Names,
    Field(
        description="Only these families of checks, as the first page of list_checks names them; empty: "
        'all. Example: ["webhooks"].',
        max_length=20,
    ),
]
CheckIncidentId = Annotated[
    str | None,
    Field(
        description="Only checks that cite this incident, by its id. Omitted: whatever they cite. "
        'Example: "jetstack-2019-09-05-opa-webhook-gke-master-upgrade".',
        max_length=200,
    ),
]
CheckId = Annotated[
    str,
    Field(
        description='Id of a check, as list_checks and findings give it. Example: "webhook-fail-catch-all".',
        max_length=200,
    ),
]
ManifestText = Annotated[
    str,
    Field(
        description="The text itself, not a path: Kubernetes manifests (YAML or JSON, several documents "
        "parted by ---), or one configuration of HAProxy, nginx or CoreDNS; at most 1 MiB and 500 "
        'documents, charts already rendered. Example: "kind: CronJob\\napiVersion: batch/v1\\n…".',
        min_length=1,
    ),
]
FileName = Annotated[
    str,
    Field(
        description="What the file is called, for the places of findings; no file is opened. "
        'Example: "deploy.yaml".',
        max_length=200,
    ),
]
Selecting = Annotated[
    _Names,
    Field(
        description='Only these checks, by id, family or glob; empty: all. Example: ["webhooks", "hp-*"].',
        max_length=50,
    ),
]
Leaving = Annotated[
    _Names,
    Field(
        description='Checks to leave out, by id, family or glob; empty: none. Example: ["images"].',
        max_length=50,
    ),
]
Against = Annotated[
    str | None,
    Field(
        description="Kubernetes version that the manifests are meant for; it decides which APIs are "
        'gone. Omitted: the newest that is known. Example: "1.34".',
        max_length=20,
    ),
]
ContextName = Annotated[
    str | None,
    Field(
        description="Context of the kubeconfig of the machine that runs this server. Omitted: its current "
        'one. Example: "staging".',
        max_length=200,
    ),
]
Namespaces = Annotated[
    _Names,
    Field(
        description="Only these namespaces; empty: all that the server's account may read. "
        'Example: ["shop", "pay"].',
        max_length=50,
    ),
]
