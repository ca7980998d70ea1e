"""Directives, their places and what they inherit."""

from __future__ import annotations

import pytest

from pilotage.checks.nginx.model import NginxConfig
from pilotage.checks.nginx.parse import looks_like_nginx, parse
from pilotage.checks.nginx.targets import host_of, seconds, target_of
from pilotage.checks.objects import SourceFile
from pilotage.checks.texts import text_of_file

WHOLE = """\
# front of the shop
worker_processes auto;

events { worker_connections 4096; }

http {
    log_format main '$remote_addr "$request"' "\\"x\\"";
    proxy_read_timeout 30s;
    upstream api { server 10.0.0.1:80; server 10.0.0.2:80; }
    server {
        listen 80; server_name shop.acme.dev www.acme.dev;
        location ~ "^/v[0-9]{1,2}/" {
            proxy_pass http://api;
            if ($arg_debug ~ "a{2}") { return 200 "${arg_debug}!"; }
        }
        location /lua {
            content_by_lua_block {
                local t = { a = "}" } -- a brace: }
                ngx.say(t.a)
            }
            add_header X-A b;
        }
    }
}
"""


def config(text: str, name: str = "nginx.conf") -> NginxConfig:
    return parse(text_of_file(SourceFile(name, text)))


def messages(text: str) -> list[tuple[str, str]]:
    return [(str(one.place), one.message) for one in config(text).problems]


def test_every_directive_has_its_place() -> None:
    found = config(WHOLE)
    assert not found.problems
    lines = WHOLE.split("\n")
    for one in found.directives:
        assert lines[one.line - 1][one.column - 1 :].startswith(one.name)
    assert [(one.name, one.line, one.column) for one in found.of("server_name", "add_header")] == [
        ("server_name", 11, 20),
        ("add_header", 21, 13),
    ]


def test_words_are_read_as_nginx_reads_them() -> None:
    found = config(WHOLE)
    (form,) = found.of("log_format")
    assert form.args == ("main", '$remote_addr "$request"', '"x"')
    location = found.of("location")[0]
    assert location.args == ("~", "^/v[0-9]{1,2}/")
    (code,) = found.of("content_by_lua_block")
    assert 'local t = { a = "}" }' in code.arg
    (answer,) = found.of("return")
    assert answer.args == ("200", "${arg_debug}!")


def test_a_setting_is_inherited_from_the_nearest_block() -> None:
    found = config(WHOLE)
    (handed,) = found.of("proxy_pass")
    setting = handed.setting("proxy_read_timeout")
    assert setting is not None
    assert setting.args == ("30s",)
    assert handed.setting("proxy_buffering") is None
    assert handed.closed


def test_blocks_are_called_by_names() -> None:
    found = config(WHOLE)
    assert [one.key for one in found.of("location")] == [
        "nginx server shop.acme.dev location ~ ^/v[0-9]{1,2}/",
        "nginx server shop.acme.dev location /lua",
    ]
    upstream = found.upstreams["api"]
    assert str(upstream.place(("server", 1))) == "nginx.conf:9:40"
    assert upstream.stable_path(("server", 1)) == "server/10.0.0.2:80"
    assert upstream.place(("keepalive",)).line == 9


def test_a_comment_speaks_of_a_directive_and_of_the_blocks_around_it() -> None:
    location = config(WHOLE).of("location")[0]
    assert location.lines(("proxy_pass",)) == {6, 10, 12, 13}


@pytest.mark.parametrize(
    ("text", "place", "part"),
    [
        ("server {\n listen 80\n}", "nginx.conf:2:2", "`listen` is not ended"),
        ("server {\n listen 80;\n", "nginx.conf:2", "unexpected end of file"),
        ("}\n", "nginx.conf:1", 'unexpected "}"'),
        ("listen 80", "nginx.conf:1:1", "is not ended"),
        ("http { ; }", "nginx.conf:1:8", "unexpected `;`"),
        ("location / { content_by_lua_block x; }", "nginx.conf:1", "Lua block"),
        ("server { server_name {{ .Values.host }}; }", "nginx.conf:1", "unrendered template"),
        ("{% if x %}\nlisten 80;\n{% endif %}", "nginx.conf:1", "unrendered template"),
    ],
)
def test_what_is_broken_is_told_with_its_place(text: str, place: str, part: str) -> None:
    told = messages(text)
    assert any(at == place and part in message for at, message in told), told


def test_the_rest_of_a_broken_text_is_read() -> None:
    found = config("server { listen 80; }\n}\nserver { listen 81; }\n")
    assert [one.arg for one in found.of("listen")] == ["80", "81"]
    assert len(found.problems) == 1


def test_problems_of_one_text_are_bounded() -> None:
    assert len(messages("{" * 300)) <= 3


def test_a_text_of_many_levels_is_no_danger() -> None:
    found = config("location / {" * 5000)
    assert found.problems


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("server {\n  listen 80;\n}", True),
        ("upstream x {\n}", True),
        ("  proxy_pass http://x;\n", True),
        ("[server]\nport = 80\n", False),
        ("<VirtualHost *:80>\n  ServerName x\n</VirtualHost>", False),
        ("net.ipv4.ip_forward = 1\n", False),
    ],
)
def test_nginx_is_told_by_its_look(text: str, expected: bool) -> None:
    assert looks_like_nginx(text) is expected


@pytest.mark.parametrize(
    ("word", "host"),
    [
        ("http://app:8080/x", "app"),
        ("https://API.acme.dev", "api.acme.dev"),
        ("10.0.0.1:80", "10.0.0.1"),
        ("http://[::1]:80/x", "[::1]"),
        ("unix:/run/app.sock", "unix:/run/app.sock"),
        ("grpc://api", "api"),
    ],
)
def test_the_host_of_an_address(word: str, host: str) -> None:
    assert host_of(word) == host


@pytest.mark.parametrize(
    ("arg", "host", "variables"),
    [
        ("http://app$request_uri", "app", ()),
        ("http://$pool$request_uri", "", ("pool",)),
        ("http://$host", "", ("host",)),
        ("http://${a}-b.acme.dev", "", ("a",)),
        ("http://app/$1", "app", ()),
    ],
)
def test_variables_behind_the_host_do_not_decide(arg: str, host: str, variables: tuple[str, ...]) -> None:
    (one,) = config(f"location / {{ proxy_pass {arg}; }}").of("proxy_pass")
    found = target_of(one)
    assert (found.host, found.variables) == (host, variables)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("60", 60), ("1h30m", 5400), ("500ms", 0.5), ("1d", 86400), ("x", None), ("", None)],
)
def test_times_as_nginx_writes_them(text: str, expected: float | None) -> None:
    assert seconds(text) == expected
