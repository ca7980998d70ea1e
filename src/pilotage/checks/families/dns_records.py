"""ExternalDNS: what may change or delete records of a zone, and whose."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from pilotage.checks.components import bare_image
from pilotage.checks.model import Answers, Confidence, Gap, NotApplicable, Pass, Severity, check
from pilotage.checks.scene import Scene
from pilotage.checks.workloads import SERVING, Container, Workload

DYNAMODB = "aws-2025-10-20-us-east-1-dynamodb-dns-race"
AZURE = "azure-2019-05-02-dns-delegation-to-empty-zones"
_NAMES = ("external-dns", "externaldns")


class _ExternalDns(msgspec.Struct, frozen=True):
    """An ExternalDNS.

    Attributes:
        workload: the workload.
        container: its container.
    """

    workload: Workload
    container: Container

    def flag(self, name: str) -> str | None:
        """The value of a flag, from the arguments or from its variable; None where it is absent."""
        words = self.container.words
        for position, word in enumerate(words):
            if word.startswith(f"--{name}="):
                return word.partition("=")[2]
            if word == f"--{name}" and position + 1 < len(words):
                return words[position + 1]
        return self.container.env("EXTERNAL_DNS_" + name.upper().replace("-", "_"))

    @property
    def deletes(self) -> bool:
        """Whether it deletes records that nothing in its cluster asks for."""
        return (self.flag("policy") or "sync") == "sync"

    @property
    def path(self) -> tuple[str | int, ...]:
        """The way to its arguments."""
        key = "args" if "args" in self.container.data or "command" not in self.container.data else "command"
        return (*self.container.path, key)


def _installed(scene: Scene) -> Iterator[_ExternalDns]:
    for workload in scene.workloads:
        if workload.kind not in SERVING:
            continue
        for container in workload.containers:
            known = not any(word.startswith("...") for word in container.words)
            if known and bare_image(container.image).rpartition("/")[2] in _NAMES:
                yield _ExternalDns(workload, container)


@check(
    "externaldns-no-owner",
    title="ExternalDNS deletes records without telling its own from those of others",
    severity=Severity.HIGH,
    incidents=(),
    alike=(DYNAMODB,),
    about=SERVING,
    chart_severity=Severity.LOW,
)
def externaldns_no_owner(scene: Scene) -> Answers:
    """
    What it does
    Looks for ExternalDNS that may delete (`--policy=sync`, the default) and keeps no record of what is its
    own (`--registry=noop`), or keeps it under the name `default`, which each installation without
    `--txt-owner-id` has.

    Why it matters
    ExternalDNS takes records away that it thinks are its own and that nothing in its cluster asks for. With
    `noop` that is every record of the zone, made by hand or by another tool. With the common name it is the
    records of each other cluster that shares the zone: two clusters delete each other's records in turn.

    Incidents
    At AWS two independent workers applied DNS plans for DynamoDB, and the clean-up of one deleted what the
    other had just put in force. The region's endpoint had no address left.

    Fix
    Set `--registry=txt` and `--txt-owner-id` to a name that no other installation has; while in doubt, run
    with `--policy=upsert-only`, which deletes nothing.

    References
    - https://kubernetes-sigs.github.io/external-dns/latest/docs/registry/registry/
    - https://kubernetes-sigs.github.io/external-dns/latest/docs/flags/
    """
    for one in _installed(scene):
        registry, owner = one.flag("registry") or "txt", one.flag("txt-owner-id")
        if not one.deletes:
            yield Pass(one.workload.object)
        elif registry == "noop":
            yield Gap(
                one.workload.object,
                "ExternalDNS may delete every record of its zones, whoever made it",
                one.path,
                evidence=(f"--policy: {one.flag('policy') or 'absent (sync)'}", "--registry=noop"),
            )
        elif registry == "txt" and owner in {None, "", "default"}:
            yield Gap(
                one.workload.object,
                "ExternalDNS shares its owner's name with every installation that states none, and deletes",
                one.path,
                evidence=(
                    f"--policy: {one.flag('policy') or 'absent (sync)'}",
                    f"--txt-owner-id: {owner or 'absent (default)'}",
                ),
                severity=Severity.MEDIUM,
                confidence=Confidence.MEDIUM,
            )
        else:
            yield Pass(one.workload.object)


_FENCES = ("domain-filter", "zone-id-filter", "regex-domain-filter", "zone-name-filter", "annotation-filter")


@check(
    "externaldns-unfenced",
    title="ExternalDNS may change every zone that its account can reach",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(AZURE, DYNAMODB),
    about=SERVING,
    chart_severity=Severity.LOW,
)
def externaldns_unfenced(scene: Scene) -> Answers:
    """
    What it does
    Looks for ExternalDNS that may delete records and that no `--domain-filter`, `--zone-id-filter` or other
    filter holds to certain zones.

    Why it matters
    Whoever may create an Ingress or a Service decides by a host name or an annotation which record is
    written. Without a filter that is a record in any zone of the account, also in the one of the company's
    main domain.

    Incidents
    At Azure automation with a wrong parameter sent the delegation of whole zones to a server that had no
    records of them, and a quarter of the look-ups failed. At AWS an automaton that writes DNS left an
    endpoint without addresses.

    Fix
    Set `--domain-filter` (and `--zone-id-filter`) to the zones of this cluster, and give its account no
    others.

    References
    - https://kubernetes-sigs.github.io/external-dns/latest/docs/flags/
    """
    for one in _installed(scene):
        if not one.deletes:
            yield NotApplicable(one.workload.object, "it deletes nothing")
        elif any(one.flag(name) for name in _FENCES):
            yield Pass(one.workload.object)
        else:
            yield Gap(
                one.workload.object,
                "No filter holds ExternalDNS to the zones of this cluster, and it deletes records",
                one.path,
                evidence=(f"--policy: {one.flag('policy') or 'absent (sync)'}", "--domain-filter: absent"),
                confidence=Confidence.MEDIUM,
            )


CHECKS = (externaldns_no_owner, externaldns_unfenced)
