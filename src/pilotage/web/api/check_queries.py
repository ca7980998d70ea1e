"""What may stand behind the `?` of the addresses of checks."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pilotage.web.api.queries import Asked, Cursor, Limit, Value, Values


class ChecksAsked(Asked):
    """Parameters of the list of checks."""

    severity: Annotated[list[Value], Field(default_factory=list, examples=[["critical"]])]
    """`critical`, `high`, `medium` or `low`; repeated for any of several."""
    family: Annotated[list[Value], Field(default_factory=list, examples=[["webhooks"]])]
    """Family of checks; repeated for any of several."""
    incident: Annotated[Value, Field(examples=["skyscanner-2019-04-23-haproxy-ingress-hot-podding"])] = ""
    """Only checks that cite this incident."""
    q: Annotated[Value, Field(examples=["webhook"])] = ""
    """Words, all of which must stand in the id, the title, the family, or what the check does."""
    limit: Limit = 50
    """Number of items."""
    cursor: Cursor | None = None
    """`next` of the part before."""


class RunAsked(Asked):
    """Parameters of a run."""

    name: Annotated[Value, Field(examples=["deploy.yaml"])] = "pasted"
    """What the file is called: it stands in the places of the report. No file of the server is read."""
    select: Annotated[Values, Field(examples=[["webhooks"]])]
    """Only this check, family or glob; repeated for several."""
    ignore: Values
    """Not this check, family or glob; repeated for several."""
    kubernetes: Annotated[Value, Field(examples=["1.34"])] = ""
    """Version that the manifests are meant for; without it the newest one that is known."""
