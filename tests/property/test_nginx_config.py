"""nginx configurations: whatever was written is found where it stands; whatever else is read or told."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pilotage.checks.nginx.parse import parse
from pilotage.checks.objects import SourceFile
from pilotage.checks.readers.assemble import assemble
from pilotage.checks.readers.files import read_text
from pilotage.checks.registry import all_checks
from pilotage.checks.runner import RunSettings, run
from pilotage.checks.texts import text_of_file

NAMES = st.sampled_from(
    "listen server_name proxy_pass proxy_set_header resolver limit_req limit_req_zone set proxy_next_upstream "
    "proxy_read_timeout worker_connections keepalive server proxy_cache include return map".split()
)
BLOCKS = st.sampled_from(
    ["http", "server", "location /", "upstream api", "events", "stream", "if ($a)", "map $a $b"]
)
WORDS = st.one_of(
    st.sampled_from(
        [
            "80", "http://api", "https://api.acme.dev:443/x", "$host", "http://$b", "zone=z:1m", "10.0.0.1", "1h", "off",
            "http_503", "non_idempotent", "Upgrade", "proxy_protocol", "", "unix:/x", "[::1]:80", "$binary_remote_addr",
            "api", "valid=1h", "http://[", "99999999999999999999", "-1", "\\", "µ", "\u2028",
        ]
    ),
    st.text(alphabet="ab$:/.-_=~^\"' ;{}#\\\n", max_size=8),
)  # fmt: skip


def quoted(word: str) -> str:
    plain = (
        word
        and not any(sign in word for sign in " \t\n;{}\"'\\#$")
        and not any(one.isspace() for one in word)
    )
    return word if plain else '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Writer:
    """Writes directives, and remembers where each began."""

    def __init__(self) -> None:
        self.text = ""
        self.began: list[tuple[str, int, int]] = []

    def put(self, text: str) -> None:
        self.text += text

    def word(self, name: str) -> None:
        line = self.text.count("\n") + 1
        self.began.append((name, line, len(self.text) - self.text.rfind("\n")))
        self.put(name)


@st.composite
def written(draw: st.DrawFn) -> Writer:
    writer = Writer()
    depth = 0
    for _ in range(draw(st.integers(1, 14))):
        writer.put(draw(st.sampled_from([" ", "\n", "\n\n  ", " # x } ;\n", "\t"])))
        step = draw(st.integers(0, 3))
        if step == 0 and depth < 4:
            name, _, rest = draw(BLOCKS).partition(" ")
            writer.word(name)
            writer.put(f" {rest} {{")
            depth += 1
        elif step == 1 and depth:
            writer.put("}")
            depth -= 1
        else:
            writer.word(draw(NAMES))
            for word in draw(st.lists(WORDS, max_size=3)):
                writer.put(" " + quoted(word))
            writer.put(";")
    writer.put("}" * depth)
    return writer


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(written())
def test_each_directive_is_found_where_it_was_written(writer: Writer) -> None:
    config = parse(text_of_file(SourceFile("nginx.conf", writer.text)))
    assert not config.problems
    assert [(one.name, one.line, one.column) for one in config.directives] == writer.began


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(written())
def test_checks_survive_any_configuration(writer: Writer) -> None:
    reading = read_text(writer.text, "nginx.conf")
    report = run(all_checks(), assemble(reading), RunSettings(select=("ngx-*",)), reading=reading)
    lines = writer.text.split("\n")
    for finding in report.findings:
        assert 1 <= finding.place.line <= len(lines)
        assert 1 <= finding.place.column <= len(lines[finding.place.line - 1]) + 1


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="abserver{};\"'\\#$ \n\r\t_luabck-\u00e9\ud800\x00\u2028", max_size=60))
def test_any_text_is_read_or_told(text: str) -> None:
    config = parse(text_of_file(SourceFile("nginx.conf", text)))
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for one in config.directives:
        assert 1 <= one.line <= len(lines)
        assert one.column >= 1
    for problem in config.problems:
        assert 0 <= problem.place.line <= len(lines) + 1
