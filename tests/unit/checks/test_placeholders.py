"""Values that somebody is to fill in: what counts as one, and what only looks like one."""

from __future__ import annotations

import pytest

from pilotage.checks.objects import KubeObject, SourceFile
from pilotage.checks.placeholders import address_for_show, left_open, no_program, to_fill_in
from pilotage.checks.readers.manifests import ManifestReader
from pilotage.checks.readers.reading import Reading
from pilotage.checks.values import KeyPath


@pytest.mark.parametrize(
    "text",
    [
        "${REPLICAS}",
        "{{ .Values.port }}",
        "$(PORT)",
        "DISK_SIZE",
        "<your LUN>",
        "...",
        "xxxx",
        "changeme",
        "change-me-please",
        "this is a placeholder",
        "TBD",
        "fill in",
        "$REPLICAS",
        "__TAG__",
        "[your region]",
        "%REPLICAS%",
        "@@port@@",
        "app:@tag@",
        "registry.example/<name>:1",
        ["YOUR_BASE64_REGION_ID"],
        ["changeme"],
        {"REGION": None},
    ],
)
def test_a_text_that_is_to_be_replaced(text: object) -> None:
    assert to_fill_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "web",
        "latest",
        "LINUX",
        "exchangement",
        "refill",
        "1.2.3",
        "tbdata",
        12,
        None,
        ["web"],
        ["A_B", "C_D"],
        {"A_B": 1},
        [],
        "50%",
        "me@host",
        "[::1]",
    ],
)
def test_a_value_that_is_meant(text: object) -> None:
    assert not to_fill_in(text)


@pytest.mark.parametrize("address", ["192.0.2.53", "198.51.100.1", "203.0.113.9", "1.2.3.4", "2001:db8::53"])
def test_an_address_for_show(address: str) -> None:
    assert address_for_show(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "10.0.0.10", "1.2.3.5", "2001:4860::8888", "dns", "", None])
def test_an_address_that_is_asked(address: object) -> None:
    assert not address_for_show(address)


TEXT = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
data:
  # Replace this with the address of your own mirror.
  mirror: mirror.example
  # Where the prices come from.
  prices: prices.example
  port: "80"  # change me
  colour: "#fill-in"
  rates:
    # a line for each currency
  empty:
  last: end
"""


def read(text: str) -> KubeObject:
    into = Reading()
    ManifestReader().read(SourceFile("settings.yaml", text), into, asked=True)
    return into.objects[0]


@pytest.mark.parametrize(
    ("key", "is_open"),
    [
        ("mirror", True),
        ("prices", False),
        ("port", True),
        ("rates", True),
        ("empty", False),
        ("last", False),
        ("absent", False),
    ],
)
def test_a_comment_tells(key: str, is_open: bool) -> None:
    one = read(TEXT)
    path: KeyPath = ("data", key)
    assert left_open(one, path, one.get(*path)) is is_open


def test_a_comment_in_an_item_of_a_list_tells() -> None:
    text = "apiVersion: v1\nkind: List\nitems:\n" + "".join(
        f"{'- ' if at == 0 else '  '}{line}\n" for at, line in enumerate(TEXT.splitlines())
    )
    one = read(text)
    assert left_open(one, ("data", "mirror"), "mirror.example")
    assert not left_open(one, ("data", "prices"), "prices.example")


def test_a_live_object_has_no_comments() -> None:
    one = KubeObject(read(TEXT).data)
    assert not left_open(one, ("data", "port"), "80")
    assert left_open(one, ("data", "port"), "changeme")


@pytest.mark.parametrize(
    ("image", "none"),
    [
        ("<YOUR-IMAGE>", True),
        ("registry.example/<image>:1.2", True),
        ("registry.example/web:<tag>", False),
        ("registry.example/<team>/web:1.2", False),
        ("${IMAGE}", False),
        ("", False),
    ],
)
def test_a_program_that_is_still_to_be_chosen(image: str, *, none: bool) -> None:
    assert no_program(image) is none
