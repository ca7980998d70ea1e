"""A live check reads the kinds that checks name: each must be known, and none may be asked for that is not named."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pilotage.checks.model import Check
from pilotage.checks.readers import kinds
from pilotage.checks.readers.assemble import assemble
from pilotage.checks.readers.files import read_paths
from pilotage.checks.readers.kinds import RELATIONS, configurations, known_kinds, listed_for
from pilotage.checks.readers.role import VERBS, cluster_role
from pilotage.checks.registry import all_checks

FIXTURES = Path(__file__).parents[1] / "golden" / "checks"


def test_every_kind_that_a_check_names_can_be_listed_or_is_a_configuration() -> None:
    classes = {
        name
        for module, found in list(sys.modules.items())
        if module.startswith("pilotage.checks")
        for name, value in vars(found).items()
        if isinstance(value, type)
    }
    unknown = configurations(all_checks().values()) - classes
    assert not unknown, f"add where these are listed to {Path(kinds.__file__).parents[1]}/data/kinds.yaml"


@pytest.mark.parametrize("check", all_checks().values(), ids=lambda one: one.id)
def test_a_check_names_every_kind_that_it_asks_the_scene_about(check: Check) -> None:
    asked: set[str] = set()
    for path in sorted((FIXTURES / check.id).glob("*")):
        if not path.name.startswith(("ok-", "bad-", "near-")):
            continue
        scene = assemble(read_paths([str(path)]), live=True)
        scene.asked.clear()
        list(check.look(scene))
        asked |= scene.asked
    named = {*check.about, *check.needs, *check.uses, *RELATIONS}
    missed = sorted(asked & known_kinds().keys() - named)
    assert not missed, "a cluster is not asked for these: add them to `needs` or `uses`"


def test_the_role_permits_what_checks_need_and_nothing_else() -> None:
    checks = all_checks().values()
    permitted = {
        (group, resource)
        for rule in cluster_role(checks)["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }
    named = {kind for one in checks for kind in (*one.about, *one.needs, *one.uses)} | set(RELATIONS)
    known = known_kinds()
    needed = {
        (one.group, one.resource)
        for kind in named
        for one in known.get(kind, known["ConfigMap"] if kind in configurations(checks) else ())
    }
    assert permitted == needed
    assert permitted == {(one.group, one.resource) for one in listed_for(checks)}


def test_the_role_has_no_verb_but_get_and_list() -> None:
    rules = cluster_role(all_checks().values())["rules"]
    assert VERBS == ["get", "list"]
    assert all(rule["verbs"] == VERBS for rule in rules)
    assert not any("*" in (*rule["apiGroups"], *rule["resources"]) for rule in rules)
    assert not any("nonResourceURLs" in rule for rule in rules)


def test_the_role_of_some_checks_is_smaller() -> None:
    some = [one for one in all_checks().values() if one.family == "cronjobs"]
    assert len(cluster_role(some)["rules"]) <= len(cluster_role(all_checks().values())["rules"])
    without = cluster_role(some, without=["CronJob"])
    assert not any("cronjobs" in rule["resources"] for rule in without["rules"])
