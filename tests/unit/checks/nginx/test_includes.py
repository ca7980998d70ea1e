"""What a configuration includes is a part of it; nothing outside of its folder is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from pilotage.checks.nginx.model import NginxConfig
from pilotage.checks.readers.files import read_paths, read_text
from pilotage.checks.readers.reading import Reading
from pilotage.checks.registry import all_checks
from pilotage.checks.runner import RunSettings, run
from pilotage.checks.scene import Scene

MAIN = "events { worker_connections 4096; }\nhttp {\n  include /etc/nginx/mime.types;\n  include conf.d/*.conf;\n}\n"


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def configs(reading: Reading) -> list[NginxConfig]:
    return [one for one in reading.configs if isinstance(one, NginxConfig)]


def test_a_folder_is_one_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "nginx.conf": MAIN,
        "conf.d/shop.conf": "proxy_read_timeout 9s;\nserver {\n  listen 80;\n  include ssl.conf;\n  location / { proxy_pass http://a.acme.dev; }\n}\n",
        "ssl.conf": "ssl_protocols TLSv1.3;\n",
        "other.conf": "server { listen 81; }\n",
    }
    write(tmp_path, files)
    monkeypatch.chdir(tmp_path)
    reading = read_paths(["."])
    assert not reading.problems
    whole, other = configs(reading)
    assert whole.complete
    assert not other.complete
    (handed,) = whole.passes
    assert handed.closed
    setting = handed.setting("proxy_read_timeout")
    assert setting is not None
    assert str(setting.text.place(setting.line, setting.column)) == "conf.d/shop.conf:1:1"
    assert whole.of("ssl_protocols")[0].block("server") is not None
    assert [one.name for one in whole.sources] == ["nginx.conf", "conf.d/shop.conf", "ssl.conf"]


def test_what_is_included_by_absolute_path_lies_beside(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"nginx.conf": "http { include /etc/nginx/sites/*; }", "sites/shop": "server { listen 80; }"},
    )
    (whole,) = configs(read_paths([str(tmp_path / "nginx.conf")]))
    assert [one.arg for one in whole.of("listen")] == ["80"]
    assert not whole.root.items[0].open  # type: ignore[index]


def test_a_missing_file_is_told_and_the_rest_is_read(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"nginx.conf": "http {\n  include lost.conf;\n  include /opt/x.conf;\n  server { listen 80; }\n}"},
    )
    reading = read_paths([str(tmp_path / "nginx.conf")])
    assert [(one.place.line, one.place.column, one.grave) for one in reading.problems] == [
        (2, 3, True),
        (3, 3, False),
    ]
    (whole,) = configs(reading)
    assert whole.of("listen")
    assert not whole.of("listen")[0].closed


def test_includes_that_come_back_end(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "nginx.conf": "http { include a.conf; }",
            "a.conf": "include b.conf;\nserver { listen 80; }",
            "b.conf": "include a.conf;\n",
        },
    )
    reading = read_paths([str(tmp_path / "nginx.conf")])
    assert any("comes back" in one.message for one in reading.problems)
    (whole,) = configs(reading)
    assert whole.of("listen")


def test_many_includes_are_bounded(tmp_path: Path) -> None:
    files = {f"l{n}.conf": f"include l{n + 1}.conf;\ninclude l{n + 1}.conf;\n" for n in range(30)}
    write(tmp_path, {"nginx.conf": "http { include l0.conf; }", "l30.conf": "server { listen 80; }", **files})
    reading = read_paths([str(tmp_path / "nginx.conf")])
    assert reading.problems


def test_nothing_outside_of_the_folder_is_read(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "secret.conf": "server { listen 99; }",
            "in/nginx.conf": "http { include ../secret.conf; include link.conf; include ../*.conf; }",
        },
    )
    (tmp_path / "in" / "link.conf").symlink_to(tmp_path / "secret.conf")
    reading = read_paths([str(tmp_path / "in" / "nginx.conf")])
    (whole,) = configs(reading)
    assert not whole.of("listen")
    assert reading.problems


def test_a_text_that_was_sent_reads_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"near.conf": "server { listen 99; }"})
    monkeypatch.chdir(tmp_path)
    (whole,) = configs(read_text("http { include near.conf; }", "nginx.conf"))
    assert not whole.of("listen")


def test_a_comment_in_an_included_file_silences_a_check(tmp_path: Path) -> None:
    part = "server {\n  listen 80;\n  # pilotage: ignore[ngx-timeout-hours] exports of the year\n  proxy_read_timeout 2h;\n  proxy_send_timeout 2h;\n}\n"
    write(tmp_path, {"nginx.conf": MAIN, "conf.d/a.conf": part})
    reading = read_paths([str(tmp_path)])
    report = run(
        all_checks(),
        Scene(reading.objects, reading.configs),
        RunSettings(select=("ngx-timeout-hours",)),
        reading=reading,
    )
    assert [one.place.line for one in report.findings] == [5]
    assert [one.reason for one in report.ignored] == ["exports of the year"]
    assert not report.idle_ignores
