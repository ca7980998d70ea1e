"""What must not be in the repository."""

from __future__ import annotations

import re

from meta.tree import ROOT, files, text_of

# Put together here, so that this file does not hold what it looks for.
HOSTS = tuple(
    host.replace("~", "")
    for host in (
        "py~pi.org",
        "python~hosted.org",
        "npm~js.org",
        "proxy.go~lang.org",
        "deb.~debian.org",
        "arti~factory",
        "nex~us/repository",
        "index~-url",
    )
)
MACHINE_PATHS = re.compile(r"(?<![\w.~>-])/(?:work|root|home/[a-z]\w*|Users/\w+)/\w")
FRAGMENT = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\.(?:added|changed|fixed|removed)\.md")


def test_no_registry_hosts_and_no_machine_paths() -> None:
    found = []
    for path in files():
        text = text_of(path)
        if text is None:
            continue
        name = path.relative_to(ROOT)
        found += [f"{name}: {host}" for host in HOSTS if host in text]
        found += [f"{name}: {match[0]}" for match in MACHINE_PATHS.finditer(text)]
    assert not found


def test_no_module_is_a_drawer_for_everything() -> None:
    drawers = {"utils", "util", "helpers", "helper", "common", "misc"}
    assert not [path for path in files() if path.stem in drawers and path.suffix == ".py"]


def test_change_fragments_have_their_form() -> None:
    for path in (ROOT / "changes").glob("*"):
        if path.name in {"README.md", ".gitkeep"}:
            continue
        assert FRAGMENT.fullmatch(path.name), path.name
        text = path.read_text("utf-8")
        assert text.strip(), path.name
        assert text.endswith("\n"), path.name
