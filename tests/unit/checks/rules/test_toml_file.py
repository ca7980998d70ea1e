"""`pilotage.toml` is read strictly, and every complaint has its line."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from pilotage.checks.model import Severity
from pilotage.checks.registry import all_checks
from pilotage.checks.rules.toml_file import HouseRules, find_file, read_house_rules
from pilotage.checks.rules.toml_lines import line_of, lines_of_keys
from pilotage.core.errors import ConfigError, NotFound

WHOLE = """\
lang = "ko"

[checks]
select = ["cronjobs", "webhook-*"]
ignore = "cron-history-large"
exclude = ["vendor/**"]
fail_on = "medium"
kubernetes = "1.34"

[checks.severity]
webhooks = "low"
"webhook-timeout" = "critical"

[[checks.rules]]
checks = ["prestop-missing"]
paths = ["charts/**"]
reason = "their chart"
expires = 2027-01-31

[[checks.rules]]
kinds = ["Deploy*"]
namespaces = ["dev-*"]
names = ["legacy"]
action = "low"
reason = '''
nobody gets \
paged'''
expires = "2027-02-01"

[store]
url = "library.db"
"""


def read(tmp_path: Path, text: str) -> HouseRules:
    path = tmp_path / "pilotage.toml"
    path.write_text(text, encoding="utf-8")
    return read_house_rules(path, lambda _: all_checks())


def test_everything_is_read(tmp_path: Path) -> None:
    house = read(tmp_path, WHOLE)
    assert house.select == ("cronjobs", "webhook-*")
    assert house.ignore == ("cron-history-large",)
    assert house.exclude == ("vendor/**",)
    assert (house.fail_on, house.kubernetes, house.lang) == ("medium", "1.34", "ko")
    assert house.severities == {"webhooks": Severity.LOW, "webhook-timeout": Severity.CRITICAL}
    first, second = house.rules
    assert (first.severity, first.paths, first.expires) == (None, ("charts/**",), dt.date(2027, 1, 31))
    assert first.place.line == 14
    assert (second.severity, second.kinds, second.names) == (Severity.LOW, ("Deploy*",), ("legacy",))
    assert second.expires == dt.date(2027, 2, 1)
    assert second.place.line == 20
    assert house.folder == tmp_path


RULE = "[[checks.rules]]\nreason = 'x'\n"


@pytest.mark.parametrize(
    ("text", "line", "message", "hint"),
    [
        ("[cheks]\n", 1, "unknown key 'cheks'", "'checks'"),
        ("[checks]\nselct = []\n", 2, "unknown key 'selct' in [checks]", "'select'"),
        ("[checks]\n\nselect = ['cron-herdd']\n", 3, "'cron-herdd' names no check", "'cron-herd'"),
        ("[checks]\nselect = 3\n", 2, "'select' must be a list", ""),
        ("[checks]\nselect = ['webhooks', 3]\n", 2, "'select' must be a list", ""),
        ("[checks]\nfail_on = 'hihg'\n", 2, "is none of", "'high'"),
        ("[checks]\nfail_on = true\n", 2, "must be a text", ""),
        ("lang = 'de'\n", 1, "lang = 'de' is none of en, ko", ""),
        ("[checks]\nkubernetes = 'new'\n", 2, "'new' is no version of Kubernetes", "1.34"),
        ("checks = 1\n", 1, "'checks' must be a table", ""),
        ("[checks.severity]\nwebhook-timeout = 'dire'\n", 2, "is none of critical", ""),
        ("[checks.severity]\nwebhook-timeout = ''\n", 2, "has no severity", ""),
        ("[checks.severity]\nwebhook-timeot = 'low'\n", 2, "names no check", "webhook-timeout"),
        (f"{RULE}kinds = ['Pod']\n{RULE}kind = ['Pod']\n", 6, "unknown key 'kind'", "'kinds'"),
        (RULE, 1, "means everything", ""),
        ("[[checks.rules]]\nkinds = ['Pod']\n", 1, "needs a reason", ""),
        ("[[checks.rules]]\nkinds = ['Pod']\nreason = ' '\n", 1, "needs a reason", ""),
        (f"{RULE}kinds = ['Pod']\naction = 'skip'\n", 4, "is none of ignore", ""),
        (f"{RULE}kinds = ['Pod']\nexpires = 'soon'\n", 4, "must be a date", ""),
        (f"{RULE}kinds = ['Pod']\nexpires = 12\n", 4, "must be a date", ""),
        ("[checks]\nrules = 'x'\n", 2, "[[checks.rules]]", ""),
        ("[checks]\nrules = ['x']\n", 2, "[[checks.rules]]", ""),
        ("[checks]\nrules = [{kinds = ['Pod'], reson = 'x'}]\n", 2, "unknown key 'reson'", "'reason'"),
    ],
)
def test_what_cannot_be_meant(tmp_path: Path, text: str, line: int, message: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text)
    assert f"pilotage.toml:{line}: " in caught.value.message
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="line 1"):
        read(tmp_path, "[checks\n")
    (tmp_path / "pilotage.toml").write_bytes(b"lang = '\xff'\n")
    with pytest.raises(ConfigError, match="UTF-8"):
        read_house_rules(tmp_path / "pilotage.toml", lambda _: all_checks())
    with pytest.raises(NotFound):
        read_house_rules(tmp_path / "absent.toml", lambda _: all_checks())
    with pytest.raises(ConfigError, match="cannot read"):
        read_house_rules(tmp_path, lambda _: all_checks())


def test_the_nearest_file_counts_and_a_repository_is_not_left(tmp_path: Path) -> None:
    inner = tmp_path / "repository" / "deploy" / "shop"
    inner.mkdir(parents=True)
    (tmp_path / "pilotage.toml").touch()
    assert find_file(inner) == tmp_path / "pilotage.toml"
    (tmp_path / "repository" / "deploy" / "pilotage.toml").touch()
    assert find_file(inner) == tmp_path / "repository" / "deploy" / "pilotage.toml"
    (tmp_path / "repository" / "deploy" / "pilotage.toml").unlink()
    (tmp_path / "repository" / ".git").mkdir()
    assert find_file(inner) is None


def test_lines_of_keys() -> None:
    lines = lines_of_keys("a = 1\n[b]\n'c d' = '''\nx = 1\n'''\ne.f = 2\n[[g]]\nh = 1\n[[g]]\n[g.i]\nj = 1\n")
    assert lines["a",] == 1
    assert lines["b", "c d"] == 3
    assert ("b", "x") not in lines
    assert lines["b", "e", "f"] == 6
    assert lines["g", 0, "h"] == 8
    assert lines["g", 1] == 9
    assert lines["g", 1, "i", "j"] == 11
    assert line_of(lines, ("g", 1, "i", "k")) == 10
    assert line_of(lines, ("z",)) == 0
