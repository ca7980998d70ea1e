"""Fields that guard: without them something grows, hangs or is cut off, and nobody notices in time."""

from __future__ import annotations

from pilotage.checks.model import Severity
from pilotage.checks.values import KeyPath

GUARDS = frozenset(
    # Jobs
    "concurrencyPolicy startingDeadlineSeconds activeDeadlineSeconds backoffLimit "
    "ttlSecondsAfterFinished successfulJobsHistoryLimit failedJobsHistoryLimit podFailurePolicy "
    "suspend "
    # probes
    "livenessProbe readinessProbe startupProbe initialDelaySeconds periodSeconds timeoutSeconds "
    "failureThreshold successThreshold httpGet tcpSocket grpc exec readinessGates "
    # sizes
    "resources limits requests sizeLimit hard max "
    # ends and changes
    "terminationGracePeriodSeconds lifecycle preStop strategy updateStrategy rollingUpdate "
    "maxUnavailable maxSurge minReadySeconds progressDeadlineSeconds revisionHistoryLimit "
    "podManagementPolicy "
    # disruption and spread
    "minAvailable unhealthyPodEvictionPolicy topologySpreadConstraints affinity podAntiAffinity "
    "nodeAffinity podAffinity tolerations priorityClassName preemptionPolicy maxSkew "
    "whenUnsatisfiable nodeSelector "
    # scale
    "replicas minReplicas maxReplicas behavior stabilizationWindowSeconds "
    # webhooks and policies
    "failurePolicy namespaceSelector objectSelector matchConditions sideEffects reinvocationPolicy "
    "matchPolicy "
    # traffic
    "externalTrafficPolicy internalTrafficPolicy publishNotReadyAddresses sessionAffinity "
    "allocateLoadBalancerNodePorts podSelector policyTypes ingress egress "
    "".split()
)


WRITTEN_TO_HOLD = frozenset(
    "limits requests livenessProbe readinessProbe startupProbe preStop minAvailable maxUnavailable "
    "activeDeadlineSeconds startingDeadlineSeconds concurrencyPolicy failurePolicy namespaceSelector "
    "objectSelector".split()
)
"""Guards that nobody writes without a value on purpose; charts do so with an affinity or resources."""


def is_guard(*names: object) -> bool:
    """Whether any of some names is that of a field that guards."""
    return any(name in GUARDS for name in names)


def weight(path: KeyPath, spelling: str) -> Severity:
    """How much is lost with a field that is not read.

    Args:
        path: the way to it.
        spelling: the field that was meant; empty where nobody knows.
    """
    key = str(path[-1])
    if key.startswith(("x-", ".")):
        return Severity.LOW
    near = [part for part in path[:-1] if isinstance(part, str)][-1:]
    return Severity.HIGH if is_guard(key, spelling) or (near and is_guard(near[0])) else Severity.MEDIUM
