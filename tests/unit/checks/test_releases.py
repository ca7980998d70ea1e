"""Which files are past releases: the names tell a version, the objects that they are the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from pilotage.checks.readers.files import Reach, read_paths

POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {}\nspec:\n  containers: [{{name: a, image: a:1}}]\n"


def _files(folder: Path, names: dict[str, str]) -> None:
    for name, text in names.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(POD.format(text))


def _read(folder: Path) -> list[str]:
    reading = read_paths([str(folder)], reach=Reach())
    return sorted(Path(one.file).relative_to(folder).as_posix() for one in reading.objects)


@pytest.mark.parametrize(
    ("names", "kept"),
    [
        (("3.9.0/app.yaml", "3.11.0/app.yaml", "3.11.0-beta2/app.yaml"), "3.11.0/app.yaml"),
        (("docs/app-v1.9.yaml", "docs/app-v1.13.yaml", "docs/app-v1.13-rc1.yaml"), "docs/app-v1.13.yaml"),
        (("csv/1.4.0/manifests/a.yaml", "csv/1.8.0/manifests/b.yaml"), "csv/1.8.0/manifests/b.yaml"),
    ],
)
def test_the_newest_of_several_releases_is_read(names: tuple[str, ...], kept: str, tmp_path: Path) -> None:
    _files(tmp_path, dict.fromkeys(names, "web"))
    reading = read_paths([str(tmp_path)])
    assert [Path(one.file).relative_to(tmp_path).as_posix() for one in reading.objects] == [kept]
    assert reading.skipped["files of older releases"] == len(names) - 1


@pytest.mark.parametrize(
    "names",
    [
        pytest.param({"db-14.2.yaml": "one", "db-15.1.yaml": "two"}, id="objects of their own"),
        pytest.param({"10.0.0.1.yaml": "web", "10.0.0.2.yaml": "web"}, id="addresses"),
        pytest.param({"a-1.2/app.yaml": "web", "b-1.3/app.yaml": "web"}, id="other names"),
        pytest.param({"v1/app.yaml": "web", "v1beta1/app.yaml": "web"}, id="versions of an API"),
    ],
)
def test_what_is_no_release_of_the_same_is_read(names: dict[str, str], tmp_path: Path) -> None:
    _files(tmp_path, names)
    assert _read(tmp_path) == sorted(names)


def test_a_release_that_is_named_or_built_upon_is_read(tmp_path: Path) -> None:
    names = dict.fromkeys(("base/1.2.0/app.yaml", "base/1.3.0/app.yaml", "base/1.4.0/app.yaml"), "web")
    _files(tmp_path, names)
    assert _read(tmp_path / "base/1.2.0") == ["app.yaml"]
    (tmp_path / "kustomization.yaml").write_text("resources: [base/1.3.0/app.yaml]\n")
    assert _read(tmp_path) == ["base/1.3.0/app.yaml", "base/1.4.0/app.yaml"]


def test_of_charts_that_lie_by_version_the_newest_is_taken(tmp_path: Path) -> None:
    for version in ("1.9.1", "1.10.0"):
        (tmp_path / "web" / version).mkdir(parents=True)
        (tmp_path / "web" / version / "Chart.yaml").write_text("apiVersion: v2\nname: web\n")
    reading = read_paths([str(tmp_path)])
    assert reading.files == 1
    assert reading.skipped["files of older releases"] == 1
