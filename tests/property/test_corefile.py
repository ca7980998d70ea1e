"""Corefiles: whatever was written is found where it stands; whatever else is read or told."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pilotage.checks.coredns.model import Corefile, Entry
from pilotage.checks.coredns.parse import parse
from pilotage.checks.objects import KubeObject, SourceFile
from pilotage.checks.readers.assemble import assemble
from pilotage.checks.readers.reading import Reading
from pilotage.checks.registry import all_checks
from pilotage.checks.runner import RunSettings, run
from pilotage.checks.texts import text_of_file

PLUGINS = st.sampled_from("errors health ready kubernetes forward cache loop reload proxy hosts bind".split())
PROPERTIES = st.sampled_from("lameduck max_concurrent serve_stale disable denial upstream pods".split())
ARGS = st.one_of(
    st.sampled_from([".", "cluster.local", "10.0.0.1", "tls://9.9.9.9", "/etc/resolv.conf", "5s", "denial", "[::1]:53", "169.254.20.10", ":8080", ""]),
    st.text(alphabet='ab.:/- "\\#{}', max_size=6),
)  # fmt: skip
ZONES = st.sampled_from([".:53", ".", "acme.dev", "tls://a.b:853", "10.0.0.0/8"])


def quoted(word: str) -> str:
    plain = word and not any(sign in word for sign in ' "#{}\\')
    # A backslash before the closing quote would hide it: CoreDNS has no other escape.
    return word if plain else '"' + word.replace("\\", "").replace('"', '\\"') + '"'


def unquoted(word: str) -> str:
    plain = word and not any(sign in word for sign in ' "#{}\\')
    return word if plain else word.replace("\\", "")


Line = tuple[str, list[str]]


@st.composite
def blocks(draw: st.DrawFn) -> list[tuple[str, list[tuple[Line, list[Line]]]]]:
    line = st.tuples(PLUGINS, st.lists(ARGS, max_size=2))
    inner = st.lists(st.tuples(PROPERTIES, st.lists(ARGS, max_size=2)), max_size=3)
    return draw(
        st.lists(st.tuples(ZONES, st.lists(st.tuples(line, inner), max_size=5)), min_size=1, max_size=3)
    )


def written(
    found: list[tuple[str, list[tuple[Line, list[Line]]]]],
) -> tuple[str, list[tuple[str, list[str], int]]]:
    """The text, and each line's words with its number."""
    text: list[str] = []
    began: list[tuple[str, list[str], int]] = []

    def put(indent: int, name: str, args: list[str], end: str) -> None:
        began.append((name, [unquoted(one) for one in args], len(text) + 1))
        text.append(" " * indent + " ".join([name, *map(quoted, args)]) + end)

    for zone, plugins in found:
        text.append(f"{zone} {{ # a block")
        for (name, args), inner in plugins:
            put(4, name, args, " {" if inner else "")
            for prop, values in inner:
                put(8, prop, values, " # x")
            if inner:
                text.append("    }")
        text.append("}\n# between")
        text[-1:] = text[-1].split("\n")
    return "\n".join(text) + "\n", began


def entries(corefile: Corefile) -> list[Entry]:
    return [one for block in corefile.blocks for plugin in block.plugins for one in (plugin, *plugin.items)]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(blocks())
def test_each_plugin_is_found_where_it_was_written(
    found: list[tuple[str, list[tuple[Line, list[Line]]]]],
) -> None:
    text, began = written(found)
    corefile = parse(text_of_file(SourceFile("Corefile", text)))
    assert not corefile.problems
    assert [block.keys for block in corefile.blocks] == [(zone,) for zone, _ in found]
    assert [(one.name, list(one.args), one.line) for one in entries(corefile)] == began


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(blocks(), st.booleans())
def test_checks_survive_any_corefile(
    found: list[tuple[str, list[tuple[Line, list[Line]]]]], live: bool
) -> None:
    text, _ = written(found)
    held = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "coredns", "namespace": "kube-system"},
        "data": {"Corefile": text},
    }
    scene = assemble(Reading(objects=[KubeObject(held)]), live=live)
    report = run(all_checks(), scene, RunSettings(select=("coredns-*",)))
    for finding in report.findings:
        assert 1 <= finding.place.line <= text.count("\n") or finding.place.path


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet='ab.:{}()"\\# \n\r\timport$[0]args,\u00e9\x00', max_size=80))
def test_any_text_is_read_or_told(text: str) -> None:
    corefile = parse(text_of_file(SourceFile("Corefile", text)))
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for one in entries(corefile):
        assert 1 <= one.line <= len(lines)
        assert one.column >= 1
    for problem in corefile.problems:
        assert 1 <= problem.place.line <= len(lines)
