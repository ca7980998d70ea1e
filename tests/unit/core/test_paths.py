from __future__ import annotations

import os
from pathlib import Path

import pytest

from pilotage.core.paths import (
    at_home,
    is_absent,
    is_file,
    is_folder,
    is_special,
    read_bytes,
    real_path,
    why_closed,
)


def test_what_cannot_be_looked_at_is_neither_file_nor_folder_and_yet_there(tmp_path: Path) -> None:
    (tmp_path / "round").symlink_to("round")
    for path in (tmp_path / "round", tmp_path / ("n" * 300)):
        assert not any(look(path) for look in (is_file, is_folder, is_special, is_absent))
    assert real_path(tmp_path / "round").name == "round"


def test_what_is_there_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "dead").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe")
    looks = (is_file, is_folder, is_special, is_absent)
    assert {
        name: [look.__name__ for look in looks if look(tmp_path / name)]
        for name in ("", "file", "dead", "pipe", "none", "file/in")
    } == {
        "": ["is_folder"],
        "file": ["is_file"],
        "dead": [],
        "pipe": ["is_special"],
        "none": ["is_absent"],
        "file/in": ["is_absent"],
    }


def test_why_a_path_is_closed(tmp_path: Path) -> None:
    (tmp_path / "dead").symlink_to("nowhere")
    missing = FileNotFoundError(2, "No such file or directory")
    assert why_closed(tmp_path / "dead", missing) == "it is a link that leads nowhere"
    assert why_closed(tmp_path / "none", missing) == "No such file or directory"
    assert why_closed(tmp_path, OSError("odd")) == "odd"


def test_a_home_that_does_not_exist_is_left_as_it_is(monkeypatch) -> None:
    monkeypatch.setenv("HOME", "/srv/me")
    assert at_home("~/x") == Path("/srv/me/x")
    assert at_home("~nobody-of-that-name/x") == Path("~nobody-of-that-name/x")


def test_a_file_is_read_as_far_as_it_has_an_end(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"12345")
    assert read_bytes(tmp_path / "x", 5) == b"12345"
    with pytest.raises(OSError, match="File too large"):
        read_bytes(tmp_path / "x", 4)
    with pytest.raises(OSError, match="File too large"):
        read_bytes(Path("/dev/zero"), 10**6)
