"""Which files are HAProxy's, which of them belong together, and what is said of the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from pilotage.checks.haproxy.config import HaproxyConfig
from pilotage.checks.haproxy.template import HaproxyTemplate
from pilotage.checks.readers.assemble import assemble
from pilotage.checks.readers.files import read_paths, read_text
from pilotage.checks.readers.reading import Reading, Trouble
from pilotage.checks.registry import all_checks
from pilotage.checks.runner import RunSettings, run

GLOBAL = "global\n maxconn 10\ndefaults\n mode http\n timeout client 1s\n"
WEB = "frontend web\n bind :80\n default_backend shop\n"
SHOP = "backend shop\n server a 10.0.0.1:80 check\n"


def write(folder: Path, files: dict[str, str]) -> Reading:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return read_paths([str(folder)])


def names(reading: Reading) -> list[list[str]]:
    return [
        [Path(text.name).name for text in one.texts]
        for one in reading.configs
        if isinstance(one, HaproxyConfig)
    ]


@pytest.mark.parametrize(
    ("files", "together"),
    [
        ({"haproxy.cfg": GLOBAL, "conf.d/web.cfg": WEB, "conf.d/shop.cfg": SHOP}, [["haproxy.cfg", "shop.cfg", "web.cfg"]]),
        ({"00-global.cfg": GLOBAL, "10-web.cfg": WEB, "20-shop.cfg": SHOP}, [["00-global.cfg", "10-web.cfg", "20-shop.cfg"]]),
        ({"haproxy.cfg": GLOBAL + WEB, "shop.cfg": SHOP}, [["haproxy.cfg", "shop.cfg"]]),
        ({"a.cfg": GLOBAL + WEB + SHOP, "b.cfg": GLOBAL + WEB + SHOP}, [["a.cfg"], ["b.cfg"]]),
        ({"1-a.cfg": GLOBAL + WEB, "2-b.cfg": GLOBAL + SHOP}, [["1-a.cfg"], ["2-b.cfg"]]),
        ({"one/haproxy.cfg": GLOBAL + WEB, "two/shop.cfg": SHOP}, [["haproxy.cfg"], ["shop.cfg"]]),
        ({"haproxy.cfg": GLOBAL + SHOP, "shop.cfg": SHOP}, [["haproxy.cfg"], ["shop.cfg"]]),
    ],
)  # fmt: skip
def test_files_that_haproxy_reads_together(
    tmp_path: Path, files: dict[str, str], together: list[list[str]]
) -> None:
    assert names(write(tmp_path, files)) == together


def test_other_files_called_cfg_are_left_alone(tmp_path: Path) -> None:
    reading = write(tmp_path, {"setup.cfg": "[metadata]\nname = x\n", "nagios.cfg": "define host {\n}\n"})
    assert not reading.configs
    assert [problem.trouble for problem in reading.problems] == [Trouble.UNREADABLE]
    assert "nothing in it could be checked" in reading.problems[0].message


@pytest.mark.parametrize(
    "text",
    [
        "{% for h in hosts %}\nserver {{ h }} 1.2.3.4:80\n{% endfor %}\n",
        "server <%= @name %> 1.2.3.4:80\n",
        "% for h in hosts:\nserver a 1.2.3.4:80\n% endfor\n",
        "<#list hosts as h>\nserver a 1.2.3.4:80\n</#list>\n",
    ],
)
def test_a_template_is_told_to_be_one(tmp_path: Path, text: str) -> None:
    file = tmp_path / "haproxy.cfg"
    file.write_text(f"backend shop\n{text}", encoding="utf-8")
    for asked in (str(file), str(tmp_path)):
        reading = read_paths([asked])
        (problem,) = reading.problems
        assert problem.message.startswith("looks like an unrendered template")
        assert problem.grave == (asked == str(file))
        assert isinstance(reading.configs[0], HaproxyTemplate)


def test_expressions_of_haproxy_are_no_template() -> None:
    text = f'{WEB} http-request set-header x "<%[src]> %{{+Q}}o"\n http-request deny if {{ path_reg ^/[[:alpha:]] }}\n'
    (config,) = read_text(text, "haproxy.cfg").configs
    assert isinstance(config, HaproxyConfig)


def test_what_is_broken_is_told_and_the_rest_is_checked(tmp_path: Path) -> None:
    file = tmp_path / "haproxy.cfg"
    file.write_text(f'{GLOBAL}{WEB}{SHOP} server "b\n timeout server 2s\n', encoding="utf-8")
    reading = read_paths([str(file)])
    (problem,) = reading.problems
    assert (problem.place.line, problem.place.column, problem.grave) == (11, 9, True)
    assert str(reading.configs[0].proxies[1].setting("timeout server")) == "timeout server 2s"


def test_hundreds_of_broken_lines_are_summed_up() -> None:
    reading = read_text(SHOP + ' server "b\n' * 500, "haproxy.cfg")
    assert len(reading.problems) == 21
    assert "480 more lines" in reading.problems[-1].message


def test_bytes_that_are_no_text_are_told(tmp_path: Path) -> None:
    file = tmp_path / "haproxy.cfg"
    file.write_bytes(f"{GLOBAL}# caf".encode() + b"\xe9\n" + SHOP.encode())
    reading = read_paths([str(file)])
    assert [(problem.message, problem.place.line, problem.grave) for problem in reading.problems] == [
        ("not UTF-8", 6, False)
    ]
    assert reading.configs[0].proxies[0].servers


def test_a_text_that_somebody_sent_finds_no_file_of_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hosts.map").write_text("a.example secret\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    text = "frontend web\n bind :80\n use_backend %[req.hdr(host),map(hosts.map)]\n"
    (sent,) = read_text(text, "haproxy.cfg").configs
    assert sent.leads[0].maps is None
    (tmp_path / "haproxy.cfg").write_text(text, encoding="utf-8")
    (found,) = read_paths(["haproxy.cfg"]).configs
    assert [one.values for one in found.leads[0].maps or ()] == [{"secret"}]


CHECK = "hp-check-hair-trigger"
HASTY = "backend shop\n{}\n server a 10.0.0.1:80 check fall 1{}\n server b 10.0.0.2:80 check\n"


@pytest.mark.parametrize(
    "shop",
    [
        HASTY.format("", f" # pilotage: ignore[{CHECK}] tried"),
        HASTY.format(f" # pilotage: ignore[{CHECK}] tried", ""),
        f"# pilotage: ignore[{CHECK}] tried\n" + HASTY.format("", ""),
    ],
)
def test_comments_ignore_in_every_file_of_a_configuration(tmp_path: Path, shop: str) -> None:
    reading = write(tmp_path, {"haproxy.cfg": GLOBAL + WEB, "conf.d/shop.cfg": shop})
    report = run(all_checks(), assemble(reading), RunSettings(select=(CHECK,)), reading=reading)
    assert not report.findings
    assert [(one.finding.check, one.reason) for one in report.ignored] == [(CHECK, "tried")]
    assert not report.idle_ignores


def test_an_ignore_that_silences_nothing_is_told(tmp_path: Path) -> None:
    reading = write(tmp_path, {"haproxy.cfg": GLOBAL + WEB + f"# pilotage: ignore[{CHECK}] once\n" + SHOP})
    report = run(all_checks(), assemble(reading), RunSettings(select=(CHECK,)), reading=reading)
    assert [one.check for one in report.idle_ignores] == [CHECK]


def test_fingerprints_hold_when_lines_move(tmp_path: Path) -> None:
    before = write(tmp_path / "a", {"haproxy.cfg": GLOBAL + WEB + HASTY.format("", "")})
    after = write(
        tmp_path / "b",
        {"lb/haproxy.cfg": "# new\n\n" + GLOBAL + HASTY.format(" retries 1", " weight 3") + WEB},
    )
    marks = [
        [
            one.fingerprint
            for one in run(all_checks(), assemble(reading), RunSettings(select=(CHECK,))).findings
        ]
        for reading in (before, after)
    ]
    assert marks[0] == marks[1] != []
