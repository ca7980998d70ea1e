"""Memory and time of a live check of a large cluster, against keeping every object whole.

A fake API server of the tests serves 250,000 objects (20,000 workloads with what belongs to them) in this process;
each way to read them runs in a process of its own:

- `check`: `pilotage check cluster`, all checks, JSON report;
- `read`: the reading alone, projected;
- `whole`: the same lists over the same client, every object kept as it came, as a client library would.

    python benchmarks/bench_cluster.py [OBJECTS]
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from rig.fake_kube import FakeKube  # noqa: E402 - the path is set just above

OBJECTS = 250_000

WHOLE = """
import asyncio, sys
from pilotage.checks.readers.kinds import listed_for
from pilotage.checks.registry import all_checks
from pilotage.clients.kubernetes.access import read_access
from pilotage.clients.kubernetes.api import ReadOnlyApi
from pilotage.clients.kubernetes.discovery import discover
from pilotage.clients.kubernetes.failures import Failure
async def main():
    async with ReadOnlyApi(read_access(sys.argv[1])) as api:
        wanted = listed_for(all_checks().values())
        found = await discover(api, {one.group for one in wanted})
        kept = []
        for one in wanted:
            served = found.resources.get((one.group, one.resource))
            if served:
                try:
                    async for page in api.pages(served.path()):
                        kept += page.items
                except Failure as failure:
                    print(failure, file=sys.stderr)
        print(len(kept))
asyncio.run(main())
"""
READ = """
import gc, sys
gc.disable()
from pilotage.checks.readers.live import ClusterQuestion, read_cluster
from pilotage.checks.registry import all_checks
found = read_cluster(ClusterQuestion(sys.argv[1]), all_checks().values())
print(len(found.reading.objects), "kept of", sum(one.total() for one in found.counts.values()))
"""
CHECK = "from pilotage.cli.main import run; run()"


def managed(manager: str, fields: int) -> list[dict[str, object]]:
    body = {f"f:field{number}": {".": {}, "f:name": {}, "f:value": {}} for number in range(fields)}
    return [{"manager": manager, "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
             "time": "2026-01-01T00:00:00Z", "fieldsV1": {"f:spec": body}}]  # fmt: skip


def metadata(namespace: str, name: str, owner: tuple[str, str, str] | None = None) -> dict[str, object]:
    found: dict[str, object] = {
        "name": name, "namespace": namespace, "uid": f"8b3c0d4e-{abs(hash((namespace, name))) % 10**8:08}-0000-a",
        "resourceVersion": "123456789", "generation": 3, "creationTimestamp": "2026-01-01T00:00:00Z",
        "labels": {"app": name, "team": "t1", "pod-template-hash": "5d8f9c7b6d"},
        "annotations": {"deployment.kubernetes.io/revision": "3"},
        "managedFields": managed("kube-controller-manager", 12),
    }  # fmt: skip
    if owner:
        found["ownerReferences"] = [{"apiVersion": owner[0], "kind": owner[1], "name": owner[2], "controller": True,
                                     "uid": "x" * 36, "blockOwnerDeletion": True}]  # fmt: skip
    return found


def pod(name: str) -> dict[str, object]:
    return {
        "containers": [
            {"name": "app", "image": f"registry.example/{name}:1.2.3", "ports": [{"containerPort": 8080, "name": "http"}],
             "env": [{"name": f"SETTING_{number}", "value": "some value"} for number in range(8)],
             "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
             "readinessProbe": {"httpGet": {"path": "/ready", "port": "http"}, "periodSeconds": 10},
             "terminationMessagePath": "/dev/termination-log", "imagePullPolicy": "IfNotPresent"},
        ],
        "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler",
        "volumes": [{"name": "config", "configMap": {"name": f"{name}-1"}}],
    }  # fmt: skip


def workload(number: int) -> list[tuple[tuple[str, str], str, str, dict[str, object]]]:
    """The objects of one workload: key, namespace, name, content."""
    space, name = f"ns-{number % 400:03}", f"app-{number:05}"
    labels = {"app": name}
    status = {"conditions": [{"type": f"c{one}", "status": "True", "message": "m" * 80} for one in range(5)]}
    template = {"metadata": {"labels": labels}, "spec": pod(name)}
    made = [
        (
            ("apps", "deployments"),
            name,
            {"spec": {"replicas": 3, "selector": {"matchLabels": labels}, "template": template}},
            None,
        ),
        (
            ("", "services"),
            name,
            {"spec": {"selector": labels, "ports": [{"port": 80, "targetPort": "http"}]}},
            None,
        ),
        (("", "configmaps"), f"{name}-1", {"data": {"app.yaml": "key: value\n" * 60}}, None),
        (("", "configmaps"), f"{name}-2", {"data": {"dashboard.json": "{}" * 4000}}, None),
    ]
    if number % 2:
        made.append(
            (
                ("policy", "poddisruptionbudgets"),
                name,
                {"spec": {"maxUnavailable": 1, "selector": {"matchLabels": labels}}},
                None,
            )
        )
    if number % 4 == 0:
        host = {
            "host": f"{name}.example",
            "http": {
                "paths": [
                    {
                        "path": "/",
                        "pathType": "Prefix",
                        "backend": {"service": {"name": name, "port": {"number": 80}}},
                    }
                ]
            },
        }
        made.append((("networking.k8s.io", "ingresses"), name, {"spec": {"rules": [host]}}, None))
    deployment, replica_set = ("apps/v1", "Deployment", name), ("apps/v1", "ReplicaSet", f"{name}-1")
    made += [
        (
            ("apps", "replicasets"),
            f"{name}-{one}",
            {"spec": {"template": template, "replicas": one}},
            deployment,
        )
        for one in range(2)
    ]
    state = {"spec": pod(name), "status": status}
    made += [(("", "pods"), f"{name}-1-{one}", state, replica_set) for one in range(5)]
    return [
        (key, space, one, {"metadata": metadata(space, one, owner), "status": status, **body})
        for key, one, body, owner in made
    ]


def fill(fake: FakeKube, objects: int) -> tuple[int, int]:
    """How many objects, how many bytes."""
    count = size = 0
    for number in range(400):
        name = f"ns-{number:03}"
        fake.create_bytes(("", "namespaces"), "", name, json.dumps({"metadata": {"name": name}}).encode())
    number = 0
    while count < objects:
        for key, space, name, value in workload(number):
            content = json.dumps(value).encode()
            fake.create_bytes(key, space, name, content)
            count += 1
            size += len(content)
        number += 1
    print(f"{count:,} objects of {number:,} workloads in 400 namespaces, {size / 2**20:,.0f} MiB of JSON")
    return count, size


def measured(title: str, command: list[str]) -> tuple[float, float]:
    """Seconds and the peak in MiB of a process."""
    start = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, cwd=ROOT)
        errors = process.stderr.read() if process.stderr else b""
        _, code, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(code)
        seconds = time.perf_counter() - start
        out.seek(0)
        said = out.read(200).decode().strip()
    if process.returncode:
        raise SystemExit(f"{title}: {errors.decode()[-600:]}")
    peak = usage.ru_maxrss / 1024
    cpu = usage.ru_utime + usage.ru_stime
    note = said if len(said) < 60 else ""
    print(f"{title:<8} {seconds:7.1f} s  {cpu:7.1f} s CPU  {peak:8.0f} MiB  {note}")
    return seconds, peak


def main() -> None:
    objects = int(sys.argv[1]) if len(sys.argv) > 1 else OBJECTS
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores")
    with FakeKube().running() as fake, tempfile.TemporaryDirectory() as folder:
        fill(fake, objects)
        config = str(fake.kubeconfig(Path(folder)))
        _, whole = measured("whole", [sys.executable, "-c", WHOLE, config])
        _, read = measured("read", [sys.executable, "-c", READ, config])
        command = [
            sys.executable,
            "-c",
            CHECK,
            "check",
            "cluster",
            "--kubeconfig",
            config,
            "--no-config",
        ]
        _, check = measured("check", [*command, "--output", "json", "--fail-on", "never"])
    print(
        f"memory of the reading: {whole / read:.1f} times less than whole objects; with all checks {whole / check:.1f} times"
    )


if __name__ == "__main__":
    main()
