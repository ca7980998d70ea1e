"""Which kinds a cluster must be asked for, and where they are listed.

What the checks name as `about` and `needs` decides; the relations of a scene (who leads to whom, who scales
whom) rest on some kinds more. The reader lists exactly these and the ClusterRole permits exactly these.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from importlib import resources

import msgspec
import yaml

from pilotage.checks import routes, webhooks, workloads
from pilotage.checks.index import indexed_kind
from pilotage.checks.model import ANYTHING, Check
from pilotage.checks.objects import KubeObject

CONFIGURATIONS_IN = "ConfigMap"
"""The kind in whose objects the configurations of proxies are found."""

RELATIONS = (
    *workloads.KINDS,
    *routes.KINDS,
    *webhooks.KINDS,
    "APIService",
    "HorizontalPodAutoscaler",
    "Namespace",
    "PodDisruptionBudget",
    "ScaledObject",
    "Service",
)
"""What `Scene` looks at for every check that asks for workloads and for what leads to them."""


class Listed(msgspec.Struct, frozen=True):
    """A kind and where it is listed.

    Attributes:
        kind: as checks call it: `Service`, `Service.serving.knative.dev`.
        group: API group; empty for the core.
        resource: plural name, as in addresses and permissions.
        namespaced: whether its objects live in namespaces.
        names_only: whether checks read nothing of it but names, labels and annotations.
    """

    kind: str
    group: str
    resource: str
    namespaced: bool
    names_only: bool = False


@functools.cache
def known_kinds() -> dict[str, tuple[Listed, ...]]:
    """Every kind that we know where to find; of some names there are several, in different groups."""
    text = resources.files("pilotage.checks").joinpath("data/kinds.yaml").read_text("utf-8")
    found: dict[str, tuple[Listed, ...]] = {}
    for row in yaml.load(text, Loader=yaml.CSafeLoader):
        for kind, resource in row["kinds"].items():
            version = f"{row['group']}/v1" if row["group"] else "v1"
            name = indexed_kind(KubeObject({"apiVersion": version, "kind": kind}))
            one = Listed(
                name,
                row["group"],
                resource,
                namespaced=kind not in row.get("cluster", ()),
                names_only=kind in row.get("names_only", ()),
            )
            found[name] = (*found.get(name, ()), one)
    return found


def names_of(checks: Iterable[Check]) -> set[str]:
    """The kinds that some checks need; a class of configurations stands for the kind that holds it."""
    known = known_kinds()
    named = {kind for one in checks for kind in (*one.about, *one.needs, *one.uses)}
    if not named:
        return set()
    named.discard(ANYTHING)
    return {kind if kind in known else CONFIGURATIONS_IN for kind in named} | set(RELATIONS)


def listed_for(checks: Iterable[Check], *, without: Iterable[str] = ()) -> tuple[Listed, ...]:
    """What is to be listed for some checks, in order.

    Args:
        checks: the checks that are to run.
        without: kinds to leave out.
    """
    left_out = set(without)
    known = known_kinds()
    return tuple(
        one for kind in sorted(names_of(checks)) if kind not in left_out for one in known.get(kind, ())
    )


def configurations(checks: Iterable[Check]) -> set[str]:
    """The classes of configurations that some checks name."""
    known = known_kinds()
    return {kind for one in checks for kind in (*one.about, *one.needs, *one.uses) if kind not in known} - {
        ANYTHING
    }
