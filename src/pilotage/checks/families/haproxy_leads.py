"""Lines of HAProxy that lead to a backend, and whether it is there."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from pilotage.checks.haproxy.config import HaproxyConfig
from pilotage.checks.model import (
    DOCUMENTATION_ONLY,
    Answers,
    Confidence,
    Gap,
    Pass,
    Severity,
    Unknown,
    check,
)
from pilotage.checks.scene import Scene
from pilotage.core.text import did_you_mean


@check(
    "hp-backend-absent",
    title="A rule leads to a backend that the configuration does not have",
    severity=Severity.HIGH,
    breaks=True,
    incidents=DOCUMENTATION_ONLY,
    about=("HaproxyConfig",),
)
def hp_backend_absent(scene: Scene) -> Answers:
    """
    What it does
    Looks up the names in `use_backend` and `default_backend` among the `backend` and `listen` sections.
    Names that are worked out for each request are looked at by `hp-map-backend-missing`; a piece of a
    configuration, without `global` and `defaults`, is not judged.

    Why it matters
    HAProxy refuses such a configuration. A running process keeps the old one, so that every later change is
    held back as well, and nobody notices until a machine restarts and serves nothing at all.

    Incidents
    No public incident is known that began with this line.

    Fix
    Correct the name, or add the section; run `haproxy -c` on what is deployed, before it is deployed.

    References
    - https://docs.haproxy.org/2.8/configuration.html#4.2-use_backend
    """
    for config in scene.configs(HaproxyConfig):
        known = {one.name for one in config.proxies if one.has_servers}
        for lead in config.leads:
            if lead.dynamic:
                continue
            name = str(lead.statement.words[1])
            if name in known:
                yield Pass(lead.proxy)
            elif config.partial:
                yield Unknown(f"backend {name} may stand in another file", lead.proxy)
            else:
                hint = did_you_mean(name, known)
                yield Gap(
                    lead.proxy,
                    f"`{lead.statement.words[0]} {name}` leads to no section of that name: HAProxy does not "
                    "start with it",
                    (str(lead.statement.words[0]), name),
                    evidence=(str(lead.statement)[:120], f"backend {name}: absent"),
                    fix=f"Correct the name or add `backend {name}`. {hint}".rstrip(),
                    confidence=Confidence.MEDIUM if lead.proxy.conditional else Confidence.HIGH,
                )


CHECKS = (hp_backend_absent,)
