"""What autoscalers measure."""

from __future__ import annotations

from collections.abc import Iterator

from pilotage.checks.objects import KubeObject
from pilotage.checks.values import as_list, as_map, as_text, dig

AUTOSCALERS = ("HorizontalPodAutoscaler", "ScaledObject")
"""Kinds that set a number of pods."""


def shares_measured(scaler: KubeObject) -> Iterator[tuple[str, str]]:
    """Resource and container (empty for all) of each metric that is a percentage of the request."""
    yield from _triggers(scaler) if scaler.kind == "ScaledObject" else _metrics(scaler)


def _metrics(scaler: KubeObject) -> Iterator[tuple[str, str]]:
    metrics = as_list(scaler.spec.get("metrics"))
    if not metrics or scaler.spec.get("targetCPUUtilizationPercentage") is not None:
        yield "cpu", ""
    for metric in metrics:
        for key in ("resource", "containerResource"):
            source = as_map(dig(metric, key))
            percent = dig(source, "target", "averageUtilization") or source.get("targetAverageUtilization")
            if percent is not None and as_text(source.get("name")):
                yield as_text(source.get("name")), as_text(source.get("container"))


def _triggers(scaler: KubeObject) -> Iterator[tuple[str, str]]:
    for trigger in as_list(scaler.spec.get("triggers")):
        kind = as_text(dig(trigger, "type"))
        measured = as_text(dig(trigger, "metricType")) or as_text(dig(trigger, "metadata", "type"))
        if kind in {"cpu", "memory"} and measured in {"", "Utilization"}:
            yield kind, as_text(dig(trigger, "metadata", "containerName"))
