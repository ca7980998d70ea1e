"""Classes of Ingresses: which one an object names, which ones there are, and who answers for them."""

from __future__ import annotations

from pilotage.checks.objects import KubeObject
from pilotage.checks.values import as_text

ANNOTATION = "kubernetes.io/ingress.class"
DEFAULT = "ingressclass.kubernetes.io/is-default-class"


def class_of(ingress: KubeObject) -> str:
    """The class that an Ingress names; empty where it leaves that to the default."""
    return as_text(ingress.spec.get("ingressClassName")) or as_text(ingress.annotations.get(ANNOTATION))


def is_default(ingress_class: KubeObject) -> bool:
    """Whether an IngressClass is the one for Ingresses that name none."""
    return str(ingress_class.annotations.get(DEFAULT)).lower() == "true"
