"""HAProxy configurations that stand in ConfigMaps, and the controllers that are set by one."""

from __future__ import annotations

import pytest

from pilotage.checks.objects import KubeObject
from pilotage.checks.readers.assemble import assemble
from pilotage.checks.readers.files import read_text
from pilotage.checks.readers.reading import Reading
from pilotage.checks.registry import all_checks
from pilotage.checks.report import Report
from pilotage.checks.runner import RunSettings, run

CONFIG_MAP = """apiVersion: v1
kind: ConfigMap
metadata:
  name: proxy
  namespace: edge
data:
  hosts.map: |
    shop.example shop
    blog.example blog
  haproxy.cfg: |
    global
        maxconn 100
    frontend web
        bind :8080
        use_backend %[req.hdr(host),map(/etc/haproxy/hosts.map,shop)]
    backend shop
        option httpchk GET /
        server a 10.0.0.1:80 check
        server b 10.0.0.2:80 check
"""
CHECKS = ("hp-httpchk-root", "hp-map-backend-missing")


def looked(reading: Reading, *, live: bool = False) -> Report:
    return run(all_checks(), assemble(reading, live=live), RunSettings(select=CHECKS), reading=reading)


def test_places_are_those_of_the_manifest() -> None:
    report = looked(read_text(CONFIG_MAP, "proxy.yaml"))
    lines = CONFIG_MAP.split("\n")
    found = {one.check: one for one in report.findings}
    assert set(found) == set(CHECKS)
    place = found["hp-httpchk-root"].place
    assert lines[place.line - 1][place.column - 1 :] == "option httpchk GET /"
    assert found["hp-httpchk-root"].subject == "ConfigMap edge/proxy haproxy.cfg: backend shop"
    assert "`blog`" in found["hp-map-backend-missing"].message


def test_a_live_one_is_told_by_its_path() -> None:
    data = read_text(CONFIG_MAP, "proxy.yaml").objects[0].data
    report = looked(Reading(objects=[KubeObject(dict(data))]), live=True)
    found = {one.check: one.place for one in report.findings}
    assert found["hp-httpchk-root"].file == ""
    assert found["hp-httpchk-root"].path.startswith('data["haproxy.cfg"] line 7')


@pytest.mark.parametrize(
    "text",
    [
        CONFIG_MAP.replace("GET /\n", "GET / # pilotage: ignore[hp-httpchk-root] tried\n"),
        CONFIG_MAP.replace(
            "  name: proxy", '  name: proxy\n  annotations: {pilotage.dev/ignore: "hp-httpchk-root: tried"}'
        ),
    ],
)
def test_it_is_ignored_by_a_comment_and_by_an_annotation(text: str) -> None:
    report = looked(read_text(text, "proxy.yaml"))
    assert [one.check for one in report.findings] == ["hp-map-backend-missing"]
    assert [one.finding.check for one in report.ignored] == ["hp-httpchk-root"]
