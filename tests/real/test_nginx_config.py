"""Our reading of nginx configurations against nginx itself, and what its checks say against what happens."""

from __future__ import annotations

import http.client
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pilotage.checks.nginx.model import NginxConfig
from pilotage.checks.nginx.parse import parse
from pilotage.checks.objects import SourceFile
from pilotage.checks.readers.assemble import assemble
from pilotage.checks.readers.files import read_paths
from pilotage.checks.registry import all_checks
from pilotage.checks.runner import RunSettings, run
from pilotage.checks.texts import text_of_file
from rig import nginx
from rig.ports import held_port

pytestmark = pytest.mark.real

GOLDEN = Path(__file__).parents[1] / "golden" / "checks"
FIXTURES = sorted(path for path in GOLDEN.glob("ngx-*/*.conf"))
REASONS = {
    "host not found in upstream": "ngx-static-dns",
    'invalid parameter "resolve"': "ngx-static-dns",
    'unknown directive "stream"': "ngx-old-workers-stay",
}
"""Why nginx here may refuse a fixture (names do not resolve, an older version, a module), and the check it is of."""

ACCEPTED = [
    'http { log_format x \'$status "$request"\' "a\\"b"; }',
    "http { server { listen 8080; location ~ \"^/a{2,3}$\" { return 200 'x;y{z}'; } } }",
    "http { server { listen 8080; location / { return 200 a\\;b\\ c; } } }",
    "http{server{listen 8080;location /{return 204;}}}",
    'http { server { listen 8080; if ($arg_a ~ "x{2}") { return 200 ${arg_a}b; } } }',
    "http { map $uri $x { default ''; ~^/a \"\"; /b 1; } }",
    "http { server { listen 8080; # a comment; with } signs {\n } }",
    "http { server { listen 8080; location /a#b { return 204; } } }",
    'http { server { listen 8080; location / { return 200 "two\nlines"; } } }',
    "http {\r\n server {\r\n listen 8080;\r\n }\r\n}\r\n",
    'http { server { listen 8080; server_name ~^(?<who>.+)\\.acme\\.dev$ "" _ *.acme.dev; } }',
    "http { upstream a { server 127.0.0.1:1 weight=2 max_fails=3; server unix:/x backup; keepalive 4; } }",
    "http { server { listen [::1]:8080 default_server; listen unix:/tmp/pilotage-test.sock; } }",
    "http { server { listen 8080; location = /é { return 200 é; } } }",
    "http { server { listen 8080; location / { set $a 'b'; set $c \"$a-${a}\"; return 200 $c; } } }",
    "http { include none/*.conf; }",
    "http { server { listen 8080; error_page 404 =200 @x; location @x { return 200 ''; } } }",
    "http { types { text/html html htm; text/css css; } default_type text/plain; }",
    "http { geo $near { default 0; 10.0.0.0/8 1; } }",
    'http { split_clients $remote_addr $v { 0.5% .a; * ""; } }',
]
REFUSED = [
    "http { server { listen 8080 } }",
    "http { server { listen 8080; }",
    "http { } }",
    "http { ; }",
    'http { server { listen 8080; location / { return 200 "x; } } }',
    "http { {} }",
    "http { server { listen 8080; include lost.conf; } }",
]
"""Broken in form; that a directive is unknown or stands in a wrong place is for nginx to say."""


def write(folder: Path, text: str, *, events: bool = True) -> Path:
    path = folder / "nginx.conf"
    path.write_bytes((("events { worker_connections 64; }\n" if events else "") + text).encode())
    return path


def fault(path: Path) -> bool:
    return any(one.grave for one in read_paths([str(path)]).problems)


@pytest.mark.parametrize("text", ACCEPTED)
def test_what_nginx_accepts_we_read(text: str, tmp_path: Path) -> None:
    path = write(tmp_path, text)
    accepted, said = nginx.verdict(path)
    assert accepted, said
    assert not fault(path)


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_broken_in_form_both_refuse(text: str, tmp_path: Path) -> None:
    path = write(tmp_path, text)
    accepted, said = nginx.verdict(path)
    assert not accepted, said
    assert fault(path)


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_our_fixtures_are_accepted(fixture: Path, tmp_path: Path) -> None:
    text = fixture.read_text("utf-8").replace("/var/cache/nginx", str(tmp_path / "cache"))
    whole = parse(text_of_file(SourceFile("x.conf", text))).root.first("events") is not None
    if not whole:
        text = "http {\n" + text + "}\n"
    accepted, said = nginx.verdict(write(tmp_path, text, events=not whole))
    if not accepted:
        reasons = [check for reason, check in REASONS.items() if reason in said]
        assert reasons == [fixture.parent.name] or (
            "host not found" in said and fixture.parent.name == "ngx-resolver-valid-long"
        ), said


def test_the_includes_are_those_that_nginx_reads(tmp_path: Path) -> None:
    files = {
        "conf.d/b.conf": "server { listen 8081; include parts/*; }",
        "conf.d/a.conf": "server { listen 8080; include parts/tls; }",
        "conf.d/.hidden.conf": "server { listen 8099; }",
        "conf.d/c.txt": "nonsense",
        "parts/tls": "server_tokens off;\ninclude deep/x;",
        "deep/x": "keepalive_timeout 3s;",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    path = write(tmp_path, "http {\n  include conf.d/*.conf;\n}\n")
    accepted, said = nginx.verdict(path, "-T")
    assert accepted, said
    theirs = set(re.findall(r"^# configuration file (\S+):$", said, re.MULTILINE))
    (config,) = read_paths([str(path)]).configs
    assert isinstance(config, NginxConfig)
    assert {one.name for one in config.sources} == theirs
    assert [one.arg for one in config.of("listen")] == ["8080", "8081"]


# What the pages say, seen


class Counted(BaseHTTPRequestHandler):
    """Answers with the statuses of its server's list, then 200; keeps how it was asked."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, Backend)
        server.asked.append((self.request_version, self.headers.get("Connection", "")))
        self.send_response(server.statuses.pop(0) if server.statuses else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Says nothing."""


class Backend(ThreadingHTTPServer):
    """A server behind nginx."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Counted)
        self.statuses: list[int] = []
        self.asked: list[tuple[str, str]] = []


@contextmanager
def backends(count: int) -> Iterator[list[Backend]]:
    servers = [Backend() for _ in range(count)]
    threads = [threading.Thread(target=one.serve_forever, args=(0.05,)) for one in servers]
    for thread in threads:
        thread.start()
    try:
        yield servers
    finally:
        for one in servers:
            one.shutdown()
            one.server_close()
        for thread in threads:
            thread.join(10)


def status(port: int, path: str = "/") -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    finally:
        connection.close()


def found(path: Path, check: str) -> bool:
    reading = read_paths([str(path)])
    report = run(all_checks(), assemble(reading), RunSettings(select=(check,)), reading=reading)
    return bool(report.findings)


def http_block(inner: str) -> str:
    return f"http {{\n  {nginx.IN_HTTP}\n{inner}\n}}\n"


@pytest.mark.parametrize(
    "address", ["set $b api.acme.dev; proxy_pass http://$b;", "proxy_pass http://api.acme.dev$request_uri;"]
)
def test_without_a_resolver_each_request_is_a_502(address: str, tmp_path: Path) -> None:
    port = held_port()
    text = f"  server {{ listen 127.0.0.1:{port}; location / {{ {address} }} }}"
    path = write(tmp_path, http_block(text))
    assert nginx.verdict(path)[0], "nginx accepts it"
    with nginx.serving(path) as log:
        assert status(port) == 502
    assert "no resolver defined to resolve api.acme.dev" in log.read_text()
    assert found(path, "ngx-resolver-missing")


def test_nginx_does_not_start_when_a_literal_name_does_not_resolve(tmp_path: Path) -> None:
    path = write(
        tmp_path, http_block("  server { listen 8080; location / { proxy_pass http://lost.invalid; } }")
    )
    accepted, said = nginx.verdict(path)
    assert not accepted
    assert "host not found in upstream" in said
    assert found(path, "ngx-static-dns")


@pytest.mark.parametrize(("servers", "then"), [("", 502), (" max_fails=20", 200)])
def test_servers_that_were_busy_once_are_out(servers: str, then: int, tmp_path: Path) -> None:
    port = held_port()
    with backends(2) as behind:
        lines = " ".join(f"server 127.0.0.1:{one.server_address[1]}{servers};" for one in behind)
        path = write(
            tmp_path,
            http_block(
                f"  upstream api {{ zone api 64k; {lines} }}\n  server {{ listen 127.0.0.1:{port};"
                " location / { proxy_pass http://api; proxy_next_upstream error timeout http_503; } }"
            ),
        )
        # The last server that is asked for a request is not counted; it is for the next request.
        behind[0].statuses += [503]
        behind[1].statuses += [503, 503]
        with nginx.serving(path) as log:
            assert status(port) == 503
            assert status(port) == then
        assert ("no live upstreams" in log.read_text()) is (then == 502)
    assert found(path, "ngx-evicts-busy") is (then == 502)


@pytest.mark.parametrize(
    ("inner", "asked"),
    [
        ("", ("HTTP/1.0", "close")),
        ("proxy_http_version 1.1;", ("HTTP/1.1", "close")),
        ('proxy_http_version 1.1; proxy_set_header Connection "";', ("HTTP/1.1", "")),
    ],
)
def test_keepalive_alone_keeps_nothing(inner: str, asked: tuple[str, str], tmp_path: Path) -> None:
    port = held_port()
    with backends(1) as (behind,):
        upstream = f"upstream api {{ server 127.0.0.1:{behind.server_address[1]}; keepalive 4; }}"
        server = f"server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://api; {inner} }} }}"
        path = write(tmp_path, http_block(f"  {upstream}\n  {server}"))
        version = re.search(r"nginx/([\d.]+)", nginx.verdict(path, "-v")[1])
        assert version is not None
        if tuple(map(int, version[1].split("."))) >= (1, 29, 7):
            pytest.skip(f"nginx {version[1]} keeps connections by default")
        with nginx.serving(path):
            assert status(port) == 200
        assert behind.asked == [asked]
    assert found(path, "ngx-keepalive-idle") is (asked != ("HTTP/1.1", ""))
