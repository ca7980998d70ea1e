"""Our reading of HAProxy configurations against HAProxy itself."""

from __future__ import annotations

import re
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from pilotage.checks.haproxy.config import HaproxyConfig, haproxy_config
from pilotage.checks.haproxy.statements import SECTIONS
from pilotage.checks.haproxy.words import split
from pilotage.checks.objects import SourceFile
from pilotage.checks.readers.assemble import assemble
from pilotage.checks.readers.files import read_paths
from pilotage.checks.registry import all_checks
from pilotage.checks.runner import RunSettings, run
from pilotage.checks.texts import Text
from rig import haproxy
from rig.ports import held_port

pytestmark = pytest.mark.real

GOLDEN = Path(__file__).parents[1] / "golden" / "checks"
FIXTURES = sorted(
    path
    for path in GOLDEN.rglob("*.cfg")
    if path.relative_to(GOLDEN).parts[0].startswith(("hp-", "haproxy-"))
)
REFUSED = {
    "hp-backend-absent/bad-default.cfg": "unable to find required default_backend",
    "hp-backend-absent/bad-rule.cfg": "unable to find required use_backend",
    "hp-backend-absent/near-piece.cfg": "unable to find required default_backend",
    "hp-nbproc/bad-four.cfg": "nbproc",
    "hp-nbproc/bad-bound.cfg": "nbproc",
    "hp-nbproc/near-one.cfg": "nbproc",
    "hp-init-addr/bad-default.cfg": "could not resolve address",
    "hp-init-addr/bad-resolvers.cfg": "could not resolve address",
    "hp-map-backend-missing/near-no-map.cfg": "hosts.map",
    "hp-map-backend-missing/ok-in-folder/haproxy.cfg": "hosts.map",
}
"""Fixtures that HAProxy 2.8 does not start with here, and the word that says why."""


@pytest.fixture(params=haproxy.programs() or [None], ids=str)
def program(request: pytest.FixtureRequest) -> Path:
    return request.param or haproxy.program()


@pytest.mark.parametrize("case", FIXTURES, ids=lambda path: str(path.relative_to(GOLDEN)))
def test_fixtures_are_configurations_that_haproxy_takes(case: Path) -> None:
    found = haproxy.verdict(case)
    why = REFUSED.get(str(case.relative_to(GOLDEN)))
    if why is None:
        assert found.accepted, found.said
    else:
        assert not found.accepted
        assert why in found.said


LINES = [
    "log-format plain words here",
    "log-format\ttabs\t  and   blanks  ",
    r"log-format escaped\ blank \# hash \\ backslash",
    r"log-format \"quote\" \'single\'",
    'log-format "double quoted" and"glued"together',
    "log-format 'single quoted' 'with \"double\" inside' \"with 'single' inside\"",
    r"""log-format '\n stays' "\n does not" \t""",
    "log-format word # comment",
    "log-format word#comment 'not # comment' \"nor # this\"",
    'log-format "${KNOWN}" "$KNOWN" "x${KNOWN}y" $KNOWN',
    'log-format "${ABSENT-default value}" "${KNOWN-unused}"',
    r'log-format "\$KNOWN" \$KNOWN',
    r"log-format \x41\x42 '\x41'",
    r"log-format \q \1 \.",
    "log-format %{+Q}o\\ %[capture.req.hdr(0)]",
    "log-format 'a'\"b\"c",
    "log-format " + " ".join(f"w{number}" for number in range(61)),
    "log-format non\u00a0breaking caf\u00e9",
    "log-format carriage\rreturn",
    "no log",
]


@pytest.mark.parametrize("line", LINES, ids=range(len(LINES)))
def test_words_are_those_of_haproxy(line: str, tmp_path: Path, program: Path) -> None:
    file = tmp_path / "one.cfg"
    file.write_text(f"defaults\n{line}\nfrontend f\n", encoding="utf-8", newline="\n")
    dump = haproxy.dumped(file, {"KNOWN": "value"}, program)
    if not dump[0].startswith("defaults"):
        pytest.skip("HAProxy before 2.7 does not print how it divided a line")
    ours = "\t" + "".join(f"{word} " for word in split(line, {"KNOWN": "value"}))
    assert "\n".join(dump[1:]).startswith(f"{ours}\n")


@pytest.mark.parametrize(
    "line",
    [
        'log-format "open',
        "log-format 'open",
        'log-format "${KNOWN"',
        'log-format "$1"',
        r"log-format \x4",
        "log-format " + " ".join(f"w{number}" for number in range(64)),
    ],
)
def test_what_haproxy_cannot_divide_is_a_problem(line: str, tmp_path: Path, program: Path) -> None:
    file = tmp_path / "one.cfg"
    file.write_text(f"defaults\n    mode http\n    {line}\n", encoding="utf-8")
    assert not haproxy.verdict(file, haproxy=program).accepted
    reading = read_paths([str(file)])
    assert [problem.place.line for problem in reading.problems] == [3]
    config = reading.configs[0]
    assert str(config.defaults[0].setting("mode")) == "mode http"


def test_a_line_of_64_words_is_read(tmp_path: Path) -> None:
    line = "acl many path_beg " + " ".join(f"/p{number}" for number in range(61))
    file = tmp_path / "one.cfg"
    file.write_text(f"frontend f\n    mode http\n    bind 127.0.0.1:1\n    {line}\n", encoding="utf-8")
    assert len(split(line, {})) == 64
    assert haproxy.verdict(file).accepted
    assert not read_paths([str(file)]).problems


@pytest.mark.parametrize(
    "kind", sorted(SECTIONS - {"acme", "healthcheck", "log-profile", "traces", "crt-store"})
)
def test_sections_are_known_to_haproxy(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "one.cfg"
    file.write_text(f"{kind} one\n", encoding="utf-8")
    assert "out of section" not in haproxy.verdict(file).said


CONFIG = """
defaults base
    mode http
    timeout connect 5s
    timeout client 30s
    timeout server 30s
    default-server maxconn 40

defaults checked from base
    default-server check inter 3s maxconn 50

frontend plain from base
    bind 127.0.0.1:{first}
    maxconn 77
    use_backend one if {{ path_beg /one }}
    default_backend two

backend one from base
    server a 127.0.0.1:1
    server b 127.0.0.1:1 check
    default-server check
    server c 127.0.0.1:1
    server d 127.0.0.1:1 no-check disabled

backend two from checked
    balance leastconn
    server a 127.0.0.1:1
    server b 127.0.0.1:1 no-check maxconn 9
    server-template t 1-3 127.0.0.1:1
    server e 127.0.0.1:1 backup no-check track one/b

defaults
    mode tcp
    timeout connect 5s
    timeout client 30s
    timeout server 30s

listen three
    bind 127.0.0.1:{second}
    server a 127.0.0.1:1 check

listen four
    bind 127.0.0.1:{third}
    disabled
    server a 127.0.0.1:1
"""


def test_facts_are_those_of_the_running_process(tmp_path: Path) -> None:
    ports = {name: held_port() for name in ("first", "second", "third")}
    config = CONFIG.format(**ports)
    ours = parsed(config)
    with haproxy.running(config, tmp_path) as process:
        table = process.stat()
    theirs = {(row["pxname"], row["svname"]): row for row in table}
    for proxy in ours.proxies:
        if proxy.disabled:
            assert (proxy.name, "FRONTEND") not in theirs
            continue
        side = "FRONTEND" if proxy.takes_requests else "BACKEND"
        assert theirs[proxy.name, side]["mode"] == proxy.mode
        names = {row["svname"] for row in table if row["pxname"] == proxy.name and row["type"] == "2"}
        assert names == set(named_servers(proxy))
        for name, server in named_servers(proxy).items():
            row = theirs[proxy.name, name]
            assert (row["status"] != "no check") == (server.checked or server.disabled), row
            assert row["slim"] == server.value("maxconn")
    assert theirs["plain", "FRONTEND"]["slim"] == "77"
    assert theirs["two", "BACKEND"]["algo"] == "leastconn"


def parsed(config: str) -> HaproxyConfig:
    return haproxy_config(Text(config, SourceFile("haproxy.cfg", config)))


def named_servers(proxy):
    from pilotage.checks.haproxy.servers import servers_of

    found = {}
    for server in servers_of(proxy):
        if server.is_template:
            found |= {f"{server.name}{number}": server for number in range(1, server.slots + 1)}
        else:
            found[server.name] = server
    return found


TIMEOUTS = """
defaults named
    mode http
    timeout connect 5s

frontend f1 from named
    bind 127.0.0.1:1001
    default_backend b1

backend b1 from named
    server a 127.0.0.1:1 check

backend b2 from named
    timeout server 10s
    server a 127.0.0.1:1 check

frontend f2 from named
    bind 127.0.0.1:1002
    timeout client 5s
    default_backend b2

defaults
    mode tcp
    timeout client 5s
    timeout server 5s

listen l1
    bind 127.0.0.1:1003
    server a 127.0.0.1:1 check

listen l2
    bind 127.0.0.1:1004
    timeout connect 1s
    server a 127.0.0.1:1 check
"""


def test_timeouts_that_are_missing_are_those_that_haproxy_misses(tmp_path: Path) -> None:
    file = tmp_path / "haproxy.cfg"
    file.write_text(TIMEOUTS, encoding="utf-8")
    warned = set(re.findall(r"missing timeouts for \w+ '(\w+)'", haproxy.verdict(file).said))
    reading = read_paths([str(file)])
    report = run(all_checks(), assemble(reading), RunSettings(select=("hp-timeouts",)), reading=reading)
    told = {
        name
        for one in report.findings
        for name in re.findall(r"`(?:frontend|backend|listen) (\w+)`", one.message)
    }
    assert warned == told == {"f1", "b1", "l1"}


def test_files_of_a_folder_are_one_configuration(tmp_path: Path) -> None:
    (tmp_path / "10-global.cfg").write_text(
        "global\n    maxconn 10\ndefaults\n    mode http\n    timeout client 1s\n"
    )
    (tmp_path / "20-web.cfg").write_text("frontend web\n    bind 127.0.0.1:1005\n    default_backend shop\n")
    (tmp_path / "30-shop.cfg").write_text(
        "backend shop\n    timeout connect 1s\n    timeout server 1s\n    server a 127.0.0.1:1\n"
    )
    files = sorted(tmp_path.glob("*.cfg"))
    assert haproxy.verdict(*files).accepted
    assert not haproxy.verdict(files[1]).accepted
    reading = read_paths([str(tmp_path)])
    (config,) = reading.configs
    assert [proxy.key for proxy in config.upstream] == ["backend shop"]
    assert config.proxies[1].mode == "http"
    assert config.proxies[1].place().file.endswith("30-shop.cfg")


# What a finding says would happen does happen.


def test_haproxy_starts_with_an_empty_backend_and_answers_503(tmp_path: Path) -> None:
    port = held_port()
    config = f"""
defaults
    mode http
    timeout connect 1s
    timeout client 5s
    timeout server 5s
frontend web
    bind 127.0.0.1:{port}
    default_backend shop
backend shop
    balance leastconn
"""
    with haproxy.running(config, tmp_path):
        assert status_of(port) == "503"


@pytest.mark.parametrize(("option", "statuses"), [("no option", {"200", "503"}), ("option", {"200"})])
def test_without_redispatch_a_request_is_lost_on_a_dead_server(
    tmp_path: Path, option: str, statuses: set[str]
) -> None:
    port, alive = held_port(), held_port()
    config = f"""
defaults
    mode http
    timeout connect 1s
    timeout client 5s
    timeout server 5s
frontend web
    bind 127.0.0.1:{port}
    default_backend shop
backend shop
    balance roundrobin
    retries 1
    {option} redispatch
    server dead 127.0.0.1:{held_port()}
    server alive 127.0.0.1:{alive}
frontend answers
    bind 127.0.0.1:{alive}
    http-request return status 200
"""
    with haproxy.running(config, tmp_path):
        assert {status_of(port) for _ in range(4)} == statuses


def status_of(port: int) -> str:
    """The status of the answer to a request."""
    with socket.create_connection(("127.0.0.1", port), 5) as client:
        client.sendall(b"GET / HTTP/1.0\r\n\r\n")
        return client.recv(4096).split(b" ")[1].decode()


@pytest.mark.parametrize("trouble", ["silence", "refused", "cut off"])
def test_trouble_with_dns_takes_out_a_server_that_is_well(tmp_path: Path, trouble: str) -> None:
    with name_server() as names, listener() as backend:
        config = f"""
resolvers cluster
    nameserver one 127.0.0.1:{names.port}
    resolve_retries 1
    timeout resolve 200ms
    timeout retry 200ms
    hold valid 200ms
    hold timeout 1s
    hold other 1s
    hold refused 1s
defaults
    mode tcp
    timeout connect 1s
    timeout client 5s
    timeout server 5s
listen web
    bind 127.0.0.1:{held_port()}
    server shop shop.example:{backend} check inter 200ms resolvers cluster init-addr none resolve-prefer ipv4
"""
        with haproxy.running(config, tmp_path) as process:

            def status() -> str:
                return next(row["status"] for row in process.stat() if row["svname"] == "shop")

            haproxy.wait_until(lambda: status() == "UP", "the server to be up")
            names.trouble = trouble
            haproxy.wait_until(lambda: status().startswith("MAINT"), "the server to be taken out")


@dataclass
class Names:
    """A name server: where it is, and what is wrong with it."""

    port: int
    trouble: str = ""


@contextmanager
def name_server() -> Iterator[Names]:
    """Answers every question with 127.0.0.1 until it has trouble."""
    done = threading.Event()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(0.1)
        names = Names(server.getsockname()[1])

        def serve() -> None:
            while not done.is_set():
                try:
                    question, asker = server.recvfrom(4096)
                except TimeoutError:
                    continue
                if names.trouble != "silence":
                    server.sendto(answer(question, FLAGS[names.trouble]), asker)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield names
        finally:
            done.set()
            thread.join()


FLAGS = {"": 0x8180, "refused": 0x8185, "cut off": 0x8380}


def answer(question: bytes, flags: int) -> bytes:
    """An answer with one address."""
    end = question.index(b"\0", 12) + 5
    head = question[:2] + struct.pack("!HHHHH", flags, 1, 1, 0, 0)
    record = struct.pack("!HHHIH", 0xC00C, 1, 1, 1, 4) + bytes([127, 0, 0, 1])
    return head + question[12:end] + record


@contextmanager
def listener() -> Iterator[int]:
    """A port at which the kernel accepts connections."""
    with socket.create_server(("127.0.0.1", 0), backlog=1000) as server:
        yield int(server.getsockname()[1])
