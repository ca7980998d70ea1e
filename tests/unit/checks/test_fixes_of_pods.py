"""Fixes that a finding brings for its own object, where the page's would not work there."""

from __future__ import annotations

from pathlib import Path

import pytest

from pilotage.checks.model import Gap
from pilotage.checks.readers.assemble import assemble
from pilotage.checks.readers.files import read_paths
from pilotage.checks.registry import all_checks

GOLDEN = Path(__file__).parents[2] / "golden" / "checks"


def fix_of(check: str, case: str) -> str:
    """The fix of the one gap that a check tells of a golden case."""
    scene = assemble(read_paths([str(GOLDEN / check / case)]))
    (gap,) = [one for one in all_checks()[check].look(scene) if isinstance(one, Gap)]
    return gap.fix


@pytest.mark.parametrize(
    ("check", "case", "said"),
    [
        ("nginx-snippet-blast", "bad-unread.yaml", "with `ssl-passthrough` nginx hands"),
        ("ngx-timeout-hours", "bad-fastcgi.conf", "`request_terminate_timeout` of PHP-FPM"),
        ("service-port-undeclared", "bad-metrics.yaml", "Declare one more port, named `exporter`"),
        ("hp-timeouts", "bad-among-tcp.cfg", "Set `timeout client 30s` in `frontend stats` itself"),
        ("gitops-prune-unfenced", "bad-children-stay", "Let it sync without `prune`"),
        ("removed-api", "bad-for-old-clusters", "apply that one, and delete this one"),
        (
            "ing-unknown-annotation",
            "bad-affinity.yaml",
            'traefik.ingress.kubernetes.io/service.sticky.cookie: "true"',
        ),
        ("ndots5-external", "bad-one-name-one-pod.yaml", "A dot behind the name would be sent along"),
        (
            "pdb-blocks-drain",
            "bad-majority-of-one.yaml",
            "run 3 (each of them named in the list of members), of",
        ),
        ("pdb-blocks-drain", "bad-one-of-one.yaml", "Set `maxUnavailable: 1` in place of `minAvailable`, so"),
        ("pdb-blocks-drain", "bad-one-of-one.yaml", "run 2, of which the budget lets one go"),
        ("pdb-blocks-drain", "bad-max-zero.yaml", "Set `maxUnavailable: 1`"),
        ("daemonset-lists-api", "bad-no-pods.yaml", "`list` and `watch` of secrets out of the ClusterRole"),
        ("daemonset-lists-api", "bad-pods.yaml", "`spec.nodeName` as field selector"),
        ("daemonset-lists-api", "bad-routes.yaml", "Each of its pods must know all routes"),
        ("daemonset-lists-api", "bad-shared-account.yaml", "Give it an account of its own"),
        ("recreate-behind-traffic", "bad-members-of-a-quorum.yaml", "StatefulSet with a volume for each"),
        ("recreate-behind-traffic", "bad-members-of-a-quorum.yaml", "a headless Service (such as `"),
        (
            "readiness-missing",
            "bad-members-by-name.yaml",
            "`publishNotReadyAddresses: true` on Service shop/",
        ),
        ("readiness-missing", "bad-members-by-name.yaml", "and set `podManagementPolicy: Parallel`"),
        ("readiness-missing", "bad-members-published.yaml", "First set `podManagementPolicy: Parallel`"),
        ("agent-no-memory-limit", "bad-logs.yaml", ""),
        ("agent-no-memory-limit", "bad-no-buffers.yaml", "above what it uses at its worst."),
        ("agent-no-memory-limit", "bad-own-watchdog.yaml", "above the sum of what its own watchdog lets"),
        ("image-gone", "bad-off-docker-hub.yaml", "`quay.io/minio/minio:RELEASE."),
        ("image-gone", "bad-ended.yaml", "`newrelic/infrastructure`"),
        ("readiness-missing", "bad-discovery.yaml", "in `DISCOVERY_SERVICE`: by Service shop/index,"),
        ("single-replica-edge", "bad-console.yaml", "`sessionAffinity: ClientIP`"),
        ("single-replica-edge", "bad-peers-unnamed.yaml", "9094, TCP and UDP"),
        ("volume-gone", "bad-pods.yaml", "a claim on a volume of the CSI driver `rbd.csi.ceph.com`"),
        ("volume-gone", "bad-class.yaml", "anew with the provisioner `csi-vxflexos.dellemc.com`"),
        ("volume-gone", "bad-class-without-driver.yaml", "Take storage that has a CSI driver"),
        ("volume-gone", "bad-volume.yaml", "anew as a volume of the CSI driver `cephfs.csi.ceph.com`"),
        ("single-replica-edge", "bad-files-for-one.yaml", "Two of it may not share the files on the claim"),
        ("single-replica-edge", "bad-records-in-database.yaml", "set `schemaCacheTtl`"),
        ("daemonset-lists-api", "bad-own-node.yaml", "`spec.nodeName` as field selector"),
        ("single-replica-edge", "bad-records-in-database.yaml", "take an `emptyDir` in its place"),
        ("webhook-single", "bad-mode-single.yaml", "(take `--mode.single` off), then run two"),
        ("webhook-timeout", "bad-adds-something.yaml", "goes on without what it adds"),
        ("webhook-timeout", "bad-thirty.yaml", "Set `timeoutSeconds` to 5 or less."),
        ("single-replica-edge", "bad-data-elsewhere.yaml", "take an `emptyDir` in its place"),
        ("single-replica-edge", "bad-folder-of-a-node.yaml", "where each node can read it"),
        ("single-replica-edge", "bad-volume.yaml", "One node at a time may have the claim `wiki`"),
        (
            "liveness-asks-readiness",
            "bad-same-path.yaml",
            "If more than the process itself answers `/checkout`",
        ),
        ("hpa-vs-replicas", "bad-not-compared-by-argo.yaml", "`RespectIgnoreDifferences=true`"),
        ("batch-over-traffic", "bad-class-of-agents.yaml", "a class of its own, below"),
        ("batch-over-traffic", "bad-class-of-the-cluster.yaml", "No class of yours can rank above"),
        ("unknown-field", "bad-other-version.yaml", "Write `apiVersion: roads.example/v1alpha2`"),
        ("readiness-missing", "bad-udp.yaml", "no probe for UDP"),
        ("webhook-single", "bad-recreated.yaml", "Two of it would compete. Narrow the rules"),
        ("webhook-single", "bad-elects-nobody.yaml", "Two of it would compete. Set `failurePolicy: Ignore`"),
        ("webhook-single", "bad-leader-election-off.yaml", "(take `--leader-elect=false` off), then run two"),
        ("webhook-single", "bad-own-kinds.yaml", "Run two replicas on different nodes"),
        ("webhook-single", "bad-one-pod.yaml", "Where it elects a leader, or does nothing but answer"),
        ("apiservice-fragile", "bad-meant-once.yaml", "short: an image that the nodes have, drains"),
    ],
)
def test_the_fix_works_for_that_object(check: str, case: str, said: str) -> None:
    assert said in fix_of(check, case)


def test_a_fix_that_is_not_about_pods_does_not_speak_of_them() -> None:
    assert "spec.nodeName" not in fix_of("daemonset-lists-api", "bad-no-pods.yaml")


@pytest.mark.parametrize(
    ("folder", "told"), [("v1.19", False), ("v1.24.x", False), ("v1.25", True), ("v1.2", True)]
)
def test_a_release_for_an_older_version_keeps_the_old_taint(tmp_path: Path, folder: str, told: bool) -> None:
    place = tmp_path / "releases" / folder
    place.mkdir(parents=True)
    case = GOLDEN / "removed-node-taint" / "bad-only-old.yaml"
    (place / "agent.yaml").write_text(case.read_text("utf-8"), "utf-8")
    scene = assemble(read_paths([str(place)]))
    answers = list(all_checks()["removed-node-taint"].look(scene))
    assert any(isinstance(one, Gap) for one in answers) is told
