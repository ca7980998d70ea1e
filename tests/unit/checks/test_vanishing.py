"""Files and folders that go away or change while they are read: one line each, and the rest is checked."""

from __future__ import annotations

import io
import os
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pilotage.checks.readers.charts import HelmChoices
from pilotage.checks.readers.files import Reach, read_paths
from pilotage.checks.readers.reading import Reading

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: NAME}\n"
TREE = {
    "a/pod.yaml": POD,
    "chart/Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\n",
    "chart/templates/pod.yaml": POD,
    "kustomize/kustomization.yaml": "resources: [pod.yaml, ../base]\npatches: [{path: patch.yaml}]\n",
    "kustomize/pod.yaml": POD,
    "kustomize/patch.yaml": POD,
    "base/kustomization.yaml": "resources: [pod.yaml]\n",
    "base/pod.yaml": POD,
    "haproxy/haproxy.cfg": "frontend f\n  bind :80\n  use_backend %[path,map(hosts.map)]\n",
    "haproxy/hosts.map": "/a b\n",
    "nginx/nginx.conf": "events {}\nhttp {\n  include conf.d/*.conf;\n  include one.inc;\n}\n",
    "nginx/conf.d/a.conf": "gzip on;\n",
    "nginx/one.inc": "gzip on;\n",
    "dns/Corefile": "import other\n.:53 {\n  errors\n}\n",
    "dns/other": "a.:53 {\n  errors\n}\n",
    "tests/x.yaml": POD,
    "z/list.json": '{"apiVersion": "v1", "kind": "List", "items": []}',
    "z/last.yaml": POD.replace("NAME", "last"),
}
Change = Callable[[Path], None]


def build(folder: Path) -> None:
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in TREE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "link.yaml").symlink_to("a/pod.yaml")
    with tarfile.open(folder / "packed.tgz", "w:gz") as archive:
        archive.add(folder / "chart", "chart")


def gone(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def replaced(path: Path) -> None:
    folder = path.is_dir()
    gone(path)
    if folder:
        path.write_text("x")
    else:
        path.mkdir()


def circle(path: Path) -> None:
    gone(path)
    path.symlink_to(path.name)


def grown(path: Path) -> None:
    if path.is_file():
        path.write_text("more: [\0\n" * 3)


class Meddler:
    """Changes a path in the moment in which it is opened or listed for the n-th time."""

    def __init__(self, top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.top = str(top)
        self.opened = 0
        self.at = -1
        self.change: Change = gone
        self.busy = False
        for module, name in ((io, "open"), (os, "scandir"), (os, "listdir")):
            monkeypatch.setattr(module, name, self._meddling(getattr(module, name)))

    def _meddling(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def looked_at(path: Any = ".", *arguments: Any, **options: Any) -> Any:
            if not self.busy and isinstance(path, str | Path) and str(path).startswith(self.top):
                self._step(Path(path))
            return real(path, *arguments, **options)

        return looked_at

    def _step(self, path: Path) -> None:
        self.opened += 1
        if self.opened - 1 == self.at:
            self.busy = True
            self.change(path)
            self.busy = False

    def read(self, at: int, change: Change, render: HelmChoices | None) -> Reading:
        self.busy = True
        build(Path(self.top))
        self.busy, self.opened, self.at, self.change = False, 0, at, change
        found = read_paths([self.top], reach=Reach(render=render))
        self.busy = True
        return found


@pytest.mark.parametrize(
    ("change", "render"),
    [(gone, None), *((change, HelmChoices()) for change in (gone, replaced, circle, grown))],
)
def test_whatever_changes_while_it_is_read_is_told_and_the_rest_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Change, render: HelmChoices | None
) -> None:
    # Without the tools: what they do to a chart is theirs to tell.
    monkeypatch.setenv("PATH", str(tmp_path))
    meddler = Meddler(tmp_path / "tree", monkeypatch)
    whole = meddler.read(-1, change, render)
    steps = meddler.opened
    assert steps > 25
    for at in range(steps):
        found = meddler.read(at, change, render)
        fewer = len(found.objects) < len(whole.objects)
        told = [one for one in found.problems if one not in whole.problems]
        assert told or not fewer or change is grown, (at, found)
        assert all("\n" not in one.message for one in told)
        assert "Pod last" in {one.key for one in found.objects} or len(told) == 1 or change is grown


def test_a_folder_that_goes_away_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    meddler = Meddler(tmp_path / "tree", monkeypatch)
    meddler.read(-1, gone, None)
    for at in range(meddler.opened):
        found = meddler.read(at, lambda _: gone(tmp_path / "tree"), None)
        assert all("\n" not in one.message for one in found.problems)
        assert found.problems
