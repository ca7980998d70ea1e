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
        description='English words of its id, title, family or description. Example: "webhook timeout".',
        max_length=200,
    ),
]
Levels = Annotated[
    list[Level],
    BeforeValidator(listed),
    Field(description='Only these severities. Example: ["critical", "high"].', max_length=4),
]
Families = Annotated[_Names, Field(description='Only these families. Example: ["webhooks"].', max_length=20)]
CheckIncidentId = Annotated[
    str | None,
    Field(
        description="Only checks that cite this incident. "
        'Example: "zalando-2019-skipper-ingress-oom-alb-502".',
        max_length=200,
    ),
]
CheckId = Annotated[
    str, Field(description='Id of a check. Example: "webhook-fail-catch-all".', max_length=200)
]
ManifestText = Annotated[
    str,
    Field(
        description="The text itself, not a path: manifests (YAML or JSON, documents parted by ---, charts "
        "already rendered), or one configuration of HAProxy, nginx or CoreDNS; at most 1 MiB and 500 "
        'documents. Example: "kind: CronJob\\n…".',
        min_length=1,
    ),
]
FileName = Annotated[
    str,
    Field(
        description='Shown in places; no file is opened. Example: "deploy.yaml".',
        max_length=200,
    ),
]
Selecting = Annotated[
    _Names,
    Field(
        description='Only these checks, by id, family or glob. Example: ["webhooks", "hp-*"].', max_length=50
    ),
]
Leaving = Annotated[
    _Names,
    Field(description='Checks to leave out, likewise. Example: ["images"].', max_length=50),
]
Against = Annotated[
    str | None,
    Field(
        description="Kubernetes version that the manifests are meant for; omitted: the newest known. "
        'Example: "1.34".',
        max_length=20,
    ),
]
OwnChecks = Annotated[
    str,
    Field(
        description="Checks of your own to run beside the others, as YAML text with expressions in CEL; at "
        "most 64 KiB and 50 checks; empty: none. Example: \"checks:\\n- {id: shop-no-latest, title: 'Runs "
        "latest', severity: high, kinds: [Deployment], each: spec.template.spec.containers, validations: "
        '[{expression: \'!item.image.endsWith(\\":latest\\")\', path: image}], fix: Name a version.}".',
    ),
]
ContextName = Annotated[
    str | None,
    Field(
        description='Context of the kubeconfig; omitted: the current one. Example: "staging".', max_length=200
    ),
]
Namespaces = Annotated[
    _Names,
    Field(
        description='Only these; omitted: all that may be read. Example: ["shop", "pay"].',
        max_length=50,
    ),
]
