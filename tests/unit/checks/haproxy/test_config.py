"""What holds for each proxy once all defaults are applied, and who sends requests to whom."""

from __future__ import annotations

import pytest

from pilotage.checks.haproxy.addresses import Kind, address_of
from pilotage.checks.haproxy.config import HaproxyConfig, Proxy, haproxy_config, looks_like_haproxy
from pilotage.checks.haproxy.healthchecks import health_check
from pilotage.checks.objects import KubeObject, SourceFile
from pilotage.checks.readers.assemble import assemble
from pilotage.checks.readers.files import read_text
from pilotage.checks.registry import all_checks
from pilotage.checks.runner import RunSettings, run
from pilotage.checks.texts import Text


def config_of(*texts: str, maps: dict[str, str] | None = None) -> HaproxyConfig:
    found = [Text(text, SourceFile(f"{place}.cfg", text)) for place, text in enumerate(texts)]
    return haproxy_config(*found, beside=(maps or {}).get)


def proxy_of(config: HaproxyConfig, name: str) -> Proxy:
    return next(one for one in config.proxies if one.name == name)


def test_the_nearest_defaults_before_a_proxy_hold() -> None:
    config = config_of(
        "defaults\n timeout server 1s\n"
        "backend a\n"
        "defaults\n mode http\n"
        "backend b\n"
        "backend c\n timeout server 3s\n timeout server 4s\n"
    )
    assert str(proxy_of(config, "a").setting("timeout server")) == "timeout server 1s"
    assert proxy_of(config, "b").setting("timeout server") is None, "new defaults begin from nothing"
    assert proxy_of(config, "c").setting("timeout server").word(2) == "4s"
    assert [proxy_of(config, name).mode for name in "abc"] == ["tcp", "http", "http"]


def test_named_defaults_are_built_on_each_other() -> None:
    config = config_of(
        "defaults base\n mode http\n retries 1\n option redispatch\n"
        "defaults slow from base\n retries 2\n no option redispatch\n"
        "backend a from base\nbackend b from slow\nbackend c\n"
    )
    assert [proxy_of(config, name).setting("retries").word(1) for name in "abc"] == ["1", "2", "2"]
    assert [proxy_of(config, name).option("redispatch") is not None for name in "abc"] == [True, False, False]
    assert proxy_of(config, "b").mode == "http"


def test_defaults_reach_over_files_and_variables_too() -> None:
    config = config_of(
        "global\n setenv PORT 8080\n presetenv HOST 10.0.0.1\ndefaults\n mode http\n",
        'frontend web\n bind :80\n default_backend shop\nbackend shop\n server a "${HOST}:${PORT}" check\n',
    )
    (server,) = proxy_of(config, "shop").servers
    assert (server.address.host, server.address.port) == ("10.0.0.1", "8080")
    assert proxy_of(config, "shop").mode == "http"
    assert proxy_of(config, "shop").place().file == "1.cfg"
    assert {source.name for source in config.sources} == {"0.cfg", "1.cfg"}


def test_default_server_counts_from_its_line_on() -> None:
    config = config_of(
        "defaults\n default-server inter 7s\n"
        "listen a\n server x 10.0.0.1:1\n default-server check maxconn 5\n server y 10.0.0.2:1\n"
        " server z 10.0.0.3:1 no-check maxconn 9\n server w 10.0.0.4:1 disabled\n"
    )
    x, y, z = proxy_of(config, "a").servers
    assert [one.checked for one in (x, y, z)] == [False, True, False]
    assert [one.value("maxconn") for one in (x, y, z)] == ["", "5", "9"]
    assert {one.time("inter") for one in (x, y, z)} == {7000.0}


@pytest.mark.parametrize(
    ("count", "slots"), [("5", 5), ("2-4", 3), ("0", 0), ("x", 0), ("4-2", 0), ("1-x", 0)]
)
def test_slots_of_a_template(count: str, slots: int) -> None:
    config = config_of(f"listen a\n server-template s {count} shop:80\n")
    assert proxy_of(config, "a").servers[0].slots == slots


def test_branches_that_may_hold_are_both_read_and_marked() -> None:
    config = config_of(
        "listen a\n.if defined(X)\n timeout server 1s\n.elif 0\n timeout server 2s\n.else\n timeout queue 3s\n"
        ".endif\n.if 1\n timeout client 4s\n.else\n timeout tunnel 5s\n.endif\n.warning hello\n retries 1\n"
    )
    found = {str(line): line.conditional for line in proxy_of(config, "a").statements}
    assert found == {
        "timeout server 1s": True,
        "timeout queue 3s": True,
        "timeout client 4s": False,
        "retries 1": False,
    }


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("bind :80\n", 1, "before the first section"),
        ("listen a\n.endif\n", 2, "without an .if"),
        ("listen a\n.if 1\n", 2, "has no .endif"),
        ('listen a\n server "b\n mode http\n', 2, "not closed"),
        ("listen a\n acl x path " + "w " * 70, 2, "at most 64"),
    ],
)
def test_faults_have_a_place_and_the_rest_is_read(text: str, line: int, why: str) -> None:
    config = config_of(text + "\nlisten after\n mode http\n")
    ((_, fault),) = config.faults
    assert fault.line == line
    assert why in fault.why
    assert proxy_of(config, "after").mode == "http"


def test_traffic_follows_names_maps_and_patterns() -> None:
    text = (
        "frontend web\n bind :80\n use_backend one if { path /1 }\n"
        " use_backend %[req.hdr(host),map(hosts.map,two)]\n use_backend be_%[req.hdr(x)]\n"
        "frontend off\n bind :81\n disabled\n default_backend six\n"
        + "".join(f"backend {name}\n" for name in ("one", "two", "three", "be_four", "five", "six"))
    )
    config = config_of(text, maps={"hosts.map": "# hosts\na.example three\n"})
    reached = {one.name for one in config.proxies if one.kind == "backend" and one.has_traffic}
    assert reached == {"one", "two", "three", "be_four"}
    blind = config_of(text)
    assert proxy_of(blind, "five").has_traffic, "a map that is not at hand may name any backend"


def test_disabled_proxies_and_enabled_ones() -> None:
    config = config_of("defaults\n disabled\nlisten a\n bind :1\nlisten b\n bind :2\n enabled\n")
    assert [one.name for one in config.serving] == ["b"]


@pytest.mark.parametrize(
    ("lines", "kind", "method", "uris"),
    [
        ("option httpchk", "httpchk", "OPTIONS", ["/"]),
        ("option httpchk /x", "httpchk", "OPTIONS", ["/x"]),
        ("option httpchk HEAD /x HTTP/1.1", "httpchk", "HEAD", ["/x"]),
        ("option httpchk\n http-check send meth GET uri /y hdr host z", "httpchk", "GET", ["/y"]),
        ("option httpchk /x\n option tcp-check\n tcp-check expect string ok", "tcp-check", "", []),
        ("option tcp-check\n tcp-check connect", "", "", []),
        ("option redis-check", "redis-check", "", []),
        ("mode http", "", "", []),
    ],
)
def test_health_checks(lines: str, kind: str, method: str, uris: list[str]) -> None:
    found = health_check(proxy_of(config_of(f"listen a\n {lines}\n"), "a"))
    assert (found.kind, found.method, [uri for uri, _ in found.uris]) == (kind, method, uris)


@pytest.mark.parametrize(
    ("word", "kind", "host", "port"),
    [
        ("10.0.0.1:80", Kind.IP, "10.0.0.1", "80"),
        ("[2001:db8::1]:80", Kind.IP, "2001:db8::1", "80"),
        ("ipv6@::1:80", Kind.IP, "::1", "80"),
        (":80", Kind.ANY, "*", "80"),
        ("*:${PORT}", Kind.ANY, "*", "${PORT}"),
        ("${HOST}:80", Kind.OPEN, "${HOST}:80", ""),
        ("shop.example:80", Kind.NAME, "shop.example", "80"),
        ("_http._tcp.shop.example", Kind.NAME, "_http._tcp.shop.example", ""),
        ("unix@/run/a", Kind.LOCAL, "/run/a", ""),
        ("/run/a.sock", Kind.LOCAL, "/run/a.sock", ""),
        ("abns@x", Kind.LOCAL, "x", ""),
    ],
)
def test_addresses(word: str, kind: Kind, host: str, port: str) -> None:
    found = address_of(word)
    assert (found.kind, found.host, found.port) == (kind, host, port)


def test_places_name_the_word() -> None:
    config = config_of("listen a\n  server x 10.0.0.1:1 check\n  server y 10.0.0.2:1 check inter 5s\n")
    proxy = proxy_of(config, "a")
    place = proxy.place(("server", "y", "inter"))
    assert (place.line, place.column, place.object, place.path) == (3, 29, "listen a", "server y inter")
    assert proxy.place(("timeout server",)).line == 1, "what is absent is told at the head"
    assert proxy.lines(("server", "x")) == {1, 2}
    assert proxy.stable_path(("server", "y", "inter")) == "server/y/inter"


def test_a_configuration_in_a_config_map_names_it() -> None:
    holder = KubeObject({"kind": "ConfigMap", "metadata": {"name": "proxy", "namespace": "edge"}})
    config = haproxy_config(Text("listen a\n bind :80\n", None, holder, ("data", "haproxy.cfg"), line=0))
    proxy = proxy_of(config, "a")
    assert proxy.key == "ConfigMap edge/proxy haproxy.cfg: listen a"
    assert "line 2" in proxy.place(("bind",)).path


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("# c\n\nglobal\n maxconn 1\n", True),
        ("frontend a\n bind :80\n", True),
        ("[metadata]\nname = x\n", False),
        ("define host {\n use x\n}\n", False),
        ("global x\n", False),
        ("backend\n server\n", False),
        ("", False),
    ],
)
def test_look(text: str, answer: bool) -> None:
    assert looks_like_haproxy(text) is answer


def test_a_line_of_too_many_words_is_told_once() -> None:
    reading = read_text(
        "listen a\n bind :80\n acl x path " + "w " * 70 + "\n server s 10.0.0.1:80\n", "haproxy.cfg"
    )
    report = run(all_checks(), assemble(reading), RunSettings(select=("hp-*",)), reading=reading)
    assert [one.message for one in report.problems] == ["73 words: HAProxy reads at most 64 on one line"]
    assert not [one.why for one in report.unknown if "piece" in one.why]
