"""Configurations inside of ConfigMaps: found, placed, ignored."""

from __future__ import annotations

from typing import Any

from pilotage.checks.coredns.model import Corefile
from pilotage.checks.haproxy.config import HaproxyConfig
from pilotage.checks.nginx.model import NginxConfig
from pilotage.checks.objects import KubeObject
from pilotage.checks.readers.assemble import assemble
from pilotage.checks.readers.files import read_text
from pilotage.checks.readers.reading import Reading
from pilotage.checks.registry import all_checks
from pilotage.checks.report import Report
from pilotage.checks.runner import RunSettings, run
from pilotage.checks.scene import Scene

COREFILE = ".:53 {\n    errors\n    health\n    kubernetes cluster.local\n    cache 30\n}\n"
MAP = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: coredns, namespace: kube-system}
data:
  Corefile: |
    .:53 {
        errors
        health
        kubernetes cluster.local
        cache 30
    }
"""


def config_map(data: dict[str, Any], name: str = "front", **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "shop", **metadata},
        "data": data,
    }


def live(*objects: dict[str, Any]) -> tuple[Scene, Reading]:
    reading = Reading(objects=[KubeObject(one) for one in objects])
    return assemble(reading, live=True), reading


def lameduck(scene: Scene) -> Report:
    return run(all_checks(), scene, RunSettings(select=("coredns-no-lameduck",)))


def test_a_place_in_a_block_is_a_place_of_the_manifest() -> None:
    scene = assemble(read_text("# first\n---\n" + MAP, "dns.yaml"))
    (found,) = lameduck(scene).findings
    assert str(found.place) == "dns.yaml:10:9"
    assert found.subject == "ConfigMap kube-system/coredns Corefile: .:53"


def test_a_value_in_another_form_has_the_place_of_its_key() -> None:
    for value in (".:53 {\\n  health\\n  kubernetes cluster.local\\n}\\n",):
        text = MAP.split("  Corefile", maxsplit=1)[0] + f'  Corefile: "{value}"\n'
        (found,) = lameduck(assemble(read_text(text, "dns.yaml"))).findings
        assert (found.place.file, found.place.line, found.place.column) == ("dns.yaml", 5, 3)


def test_blanks_that_belong_to_the_value_do_not_shift_the_place() -> None:
    text = MAP.replace("Corefile: |\n", "Corefile: |2\n").replace("\n    ", "\n      ")
    scene = assemble(read_text(text, "dns.yaml"))
    (found,) = lameduck(scene).findings
    line = text.split("\n")[found.place.line - 1]
    assert line[found.place.column - 1 :].startswith("health")


def test_a_place_in_a_cluster_is_the_object_and_the_line_of_the_value() -> None:
    scene, _ = live(config_map({"Corefile": COREFILE}, "coredns"))
    (found,) = lameduck(scene).findings
    assert not found.place.file
    assert "data.Corefile line 3" in str(found.place)


def test_an_annotation_of_the_map_silences_a_check() -> None:
    noted = {"pilotage.dev/ignore": "coredns-no-lameduck: drained by hand"}
    scene, _ = live(config_map({"Corefile": COREFILE}, "coredns", annotations=noted))
    report = lameduck(scene)
    assert not report.findings
    assert [one.reason for one in report.ignored] == ["drained by hand"]
    assert not report.idle_ignores


def test_a_comment_in_the_value_silences_a_check_in_files_and_live() -> None:
    comment = "    # pilotage: ignore[coredns-no-lameduck] drained by hand\n    health\n"
    scene, _ = live(config_map({"Corefile": COREFILE.replace("    health\n", comment)}, "coredns"))
    from_file = assemble(
        read_text(
            MAP.replace(
                "        health\n", comment.replace("    #", "        #").replace("    h", "        h")
            ),
            "d.yaml",
        )
    )
    for one in (scene, from_file):
        report = lameduck(one)
        assert not report.findings
        assert [ignored.reason for ignored in report.ignored] == ["drained by hand"]
        assert not report.idle_ignores


def test_an_ignore_in_a_live_value_that_matches_nothing_is_placed() -> None:
    text = COREFILE.replace(
        "health", "health {\n        lameduck 5s # pilotage: ignore[coredns-no-lameduck] old\n    }"
    )
    scene, _ = live(config_map({"Corefile": text}, "coredns"))
    (idle,) = lameduck(scene).idle_ignores
    assert str(idle.place).startswith("ConfigMap shop/coredns data.Corefile:4:")


def test_all_kinds_are_found_by_their_look() -> None:
    scene, reading = live(
        config_map(
            {
                "Corefile": COREFILE,
                "haproxy.cfg": "defaults\n  mode http\nfrontend f\n  bind :80\n",
                "nginx.conf": "events {}\nhttp {\n  server { listen 80; }\n}\n",
                "notes.txt": "server {\n  listen 80;\n}\n",
                "app.conf": "key = value\nother = 1\n",
                "empty": "",
                "number": 3,
            }
        )
    )
    assert [len(scene.configs(kind)) for kind in (Corefile, HaproxyConfig, NginxConfig)] == [1, 1, 1]
    assert not reading.problems


def test_keys_of_one_map_include_each_other() -> None:
    scene, reading = live(
        config_map(
            {
                "default.conf": "server {\n  listen 80;\n}\n",
                "nginx.conf": "events {}\nhttp {\n  include /etc/nginx/conf.d/*.conf;\n}\n",
            }
        )
    )
    (config,) = scene.configs(NginxConfig)
    assert config.of("listen")[0].closed
    assert config.of("server")[0].key == "ConfigMap shop/front default.conf: server 80"
    assert not reading.problems


def test_imports_reach_the_custom_map() -> None:
    scene, _ = live(
        config_map(
            {"Corefile": ". {\n  kubernetes x\n  import custom/*.override\n}\nimport custom/*.server\n"},
            "coredns",
        ),
        config_map(
            {"a.override": "errors\nhealth {\n  lameduck 5s\n}\n", "b.server": "acme.dev {\n  whoami\n}\n"},
            "coredns-custom",
        ),
    )
    whole = next(one for one in scene.configs(Corefile) if one.serves_cluster)
    assert not whole.unfinished
    assert [block.keys for block in whole.blocks] == [(".",), ("acme.dev",)]
    assert not lameduck(scene).findings


def test_what_is_broken_in_a_value_is_no_reason_to_stop() -> None:
    reading = read_text(MAP.replace("    }\n", ""), "dns.yaml")
    scene = assemble(reading)
    (problem,) = reading.problems
    assert not problem.grave
    assert str(problem.place) == "dns.yaml:6:5"
    assert not scene.configs(Corefile)[0].blocks


def test_a_template_in_a_value_is_told() -> None:
    _, reading = live(config_map({"nginx.conf": "http {\n  server { server_name {{ .host }}; }\n}\n"}))
    assert ["unrendered template" in one.message for one in reading.problems] == [True]
