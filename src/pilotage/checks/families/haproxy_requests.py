"""Requests that are sent again, and requests that are refused."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

import re

from pilotage.checks.haproxy.config import HaproxyConfig, Proxy
from pilotage.checks.haproxy.groups import by_base, by_line, with_servers
from pilotage.checks.haproxy.healthchecks import asks_elsewhere, checked_servers
from pilotage.checks.haproxy.statements import Statement
from pilotage.checks.model import Answers, Confidence, Gap, NotApplicable, Pass, Severity, check
from pilotage.checks.scene import Scene
from pilotage.core.counting import counted
from pilotage.core.regex import regex

ABOUT = ("HaproxyConfig",)
MAILGUN = "mailgun-2018-07-13-central-auth-retry-overload"
TWILIO = "twilio-2021-02-26-feature-enablement-service-overload"
POSTHOG_RETRIES = "posthog-2025-09-29-connection-timeout-cut-retry-amplification"
POSTHOG_LIMIT = "posthog-2025-10-24-rate-limiter-saw-only-the-load-balancer"
RAVELIN = "ravelin-2019-sigterm-endpoint-race-502"

_MANY = 2
_TRACK = regex(r"track-sc\d*")
_COUNT = regex(r"\bsc\d*_|\bsrc_(?:http_req|conn|sess)\w*")
_TRUSTED = regex(
    r"hdr(?:_\w+)?\(\s*(?:x-forwarded-(?:for|proto|port)|x-real-ip|cf-connecting-ip)", re.IGNORECASE
)


@check(
    "hp-retry-storm",
    title="Requests that servers failed to answer are sent again and again",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(POSTHOG_RETRIES, MAILGUN, TWILIO),
    about=ABOUT,
)
def hp_retry_storm(scene: Scene) -> Answers:
    """
    What it does
    Looks for `retry-on` with answers that an overloaded server gives (`all-retryable-errors`, `5xx`,
    `response-timeout`, `empty-response`, `junk-response`) in backends that may retry at least twice
    (`retries`, by default 3).

    Why it matters
    A server that is late or answers 503 is most often overloaded. HAProxy then sends the request to the next
    one, at once and without a budget: with three retries an overload is met with up to four times the load. A
    request that is not idempotent may take effect twice.

    Incidents
    At PostHog retries without backoff turned a manageable load on the database into an outage. At Mailgun
    and Twilio repeated requests kept an overloaded service down, and more servers did not help until they
    stopped.

    Fix
    Keep to `retry-on conn-failure` (the default), or set `retries 1` and exclude what is not idempotent with
    `http-request disable-l7-retry if !METH_GET`.

    References
    - https://docs.haproxy.org/2.8/configuration.html#4-retry-on
    - https://sre.google/sre-book/addressing-cascading-failures/
    """
    hits: list[tuple[Proxy, Statement]] = []
    for proxy in with_servers(scene):
        line = proxy.setting("retry-on")
        if line is None or proxy.mode != "http":
            continue
        stormy = [word for word in line.args if _from_overload(word)]
        if not stormy or _retries(proxy) < _MANY:
            yield Pass(proxy)
        else:
            hits.append((proxy, line))
    for group in by_line(hits):
        line, proxy = group.statement, group.proxies[0]
        if line is None:
            continue
        most = _retries(proxy)
        guarded = any(True for _ in proxy.rules("http-request disable-l7-retry"))
        retries = proxy.setting("retries")
        yield Gap(
            group.subject,
            f"{group.names}: a request that an overloaded server fails is repeated up to "
            f"{counted(most, 'time')}, at once",
            ("retry-on",),
            evidence=(str(line), str(retries) if retries is not None else "retries 3 (default)"),
            severity=Severity.LOW if guarded else None,
        )


def _from_overload(word: str) -> bool:
    named = {"all-retryable-errors", "response-timeout", "empty-response", "junk-response"}
    return word in named or bool(re.fullmatch(r"5\d\d|429|408", word))


def _retries(proxy: Proxy) -> int:
    line = proxy.setting("retries")
    number = line.word(1) if line is not None else "3"
    return int(number) if number.isdecimal() and len(number) < 6 else 3  # noqa: PLR2004


@check(
    "hp-no-redispatch",
    title="A request is tried again on the server that just refused it",
    severity=Severity.LOW,
    incidents=(),
    alike=(RAVELIN,),
    about=ABOUT,
)
def hp_no_redispatch(scene: Scene) -> Answers:
    """
    What it does
    Looks for backends of at least two servers that retry (`retries` above 0) without `option redispatch`.
    With a session cookie or stickiness it is of medium severity.

    Why it matters
    Until health checks have noticed that a server is gone, connections to it fail. Without redispatch HAProxy
    tries the same server each time and then answers 503, though the next one would have taken the request.
    Clients that stick to that server get nothing else until then.

    Incidents
    At Ravelin pods stopped listening before the balancer in front had heard of it, and requests that met them
    ended in 502; another pod would have answered.

    Fix
    Add `option redispatch` to `defaults`.

    References
    - https://docs.haproxy.org/2.8/configuration.html#4-option%20redispatch
    """
    lacking: list[Proxy] = []
    for proxy in with_servers(scene):
        if sum(one.slots for one in proxy.servers if not one.backup) < _MANY or proxy.undecided:
            continue
        if proxy.option("redispatch") is not None:
            yield Pass(proxy)
        elif _retries(proxy) == 0 or _hashes(proxy) or _elects(proxy):
            yield NotApplicable(proxy, "it never retries, or there is one right server for a request")
        else:
            lacking.append(proxy)
    for group in by_base(lacking):
        sticky = [one for one in group.proxies if _sticky(one) is not None]
        line = _sticky(sticky[0]) if sticky else None
        yield Gap(
            group.subject,
            f"{group.names}: without `option redispatch` a request that a dead server refuses is tried again "
            "there only" + ("; clients stick to it by a cookie or a table" if sticky else ""),
            ("option redispatch",),
            evidence=("no option redispatch", *([str(line)] if line is not None else [])),
            severity=Severity.MEDIUM if sticky else None,
        )


def _elects(proxy: Proxy) -> bool:
    """Whether its checks let one server in at a time, such as the primary of a database."""
    asked = checked_servers(proxy)
    return proxy.mode == "tcp" and bool(asked) and all(asks_elsewhere(one) for one in asked)


def _sticky(proxy: Proxy) -> Statement | None:
    for phrase in ("cookie", "stick on", "stick match", "appsession"):
        line = proxy.setting(phrase)
        if line is not None:
            return line
    return None


def _hashes(proxy: Proxy) -> bool:
    line = proxy.setting("balance")
    return line is not None and line.word(1) not in {
        "roundrobin",
        "static-rr",
        "leastconn",
        "random",
        "first",
    }


@check(
    "hp-limit-by-balancer",
    title="A rate limit by address sees the load balancer as its only client",
    severity=Severity.HIGH,
    incidents=(POSTHOG_LIMIT,),
    about=ABOUT,
)
def hp_limit_by_balancer(scene: Scene) -> Answers:
    """
    What it does
    Looks for frontends that count requests by `src` and refuse by that count, while they themselves trust a
    header that a balancer before them sets (`X-Forwarded-For`, `X-Forwarded-Proto`, `X-Real-IP`) and neither
    `accept-proxy` nor `set-src` gives them the client's own address.

    Why it matters
    Behind a balancer every connection comes from its few addresses. All users together count as one client,
    and as soon as the limit is reached everybody gets 429 or is cut off.

    Incidents
    At PostHog a new limit by address went live behind a load balancer. Within a minute some 97 % of all
    evaluations were refused with 429, for more than an hour.

    Fix
    Take the address from the balancer first: `bind … accept-proxy` where it speaks the PROXY protocol, or
    `http-request set-src hdr_ip(x-forwarded-for,-1) if { src <balancer's network> }` before the counting
    rule.

    References
    - https://docs.haproxy.org/2.8/configuration.html#5.1-accept-proxy
    - https://docs.haproxy.org/2.8/configuration.html#4.2-http-request%20set-src
    """
    for config in scene.configs(HaproxyConfig):
        for proxy in config.serving:
            tracks = [line for line in proxy.statements if _counts_source(line)]
            refuses = [line for line in proxy.statements if _refuses_by_count(line)]
            if not tracks or not refuses:
                continue
            trusted = next((line for line in proxy.statements if _trusts_header(line)), None)
            if _knows_client(proxy) or trusted is None:
                yield Pass(proxy)
            else:
                yield Gap(
                    proxy,
                    f"`{proxy.title}` counts by `src`, but stands behind a balancer whose headers it reads: "
                    "all clients share one count",
                    (" ".join(tracks[0].words[:2]),),
                    evidence=(str(tracks[0])[:120], str(refuses[0])[:120], str(trusted)[:120]),
                    confidence=Confidence.MEDIUM,
                )


def _counts_source(line: Statement) -> bool:
    words = line.words[2:] if line.word(1) in {"connection", "content", "session"} else line.words[1:]
    return not line.modifier and len(words) > 1 and bool(_TRACK.fullmatch(words[0])) and words[1] == "src"


def _refuses_by_count(line: Statement) -> bool:
    text = " ".join(line.words)
    refuses = any(word in {"deny", "reject", "tarpit", "silent-drop"} for word in line.words[1:3])
    return refuses and bool(_COUNT.search(text))


def _trusts_header(line: Statement) -> bool:
    """Whether it reads such a header (to set or delete one says nothing about who is in front)."""
    return bool(_TRUSTED.search(" ".join(line.words)))


def _knows_client(proxy: Proxy) -> bool:
    for line in proxy.statements:
        text = " ".join(line.words)
        if "accept-proxy" in line.words or "set-src" in line.words or "expect-proxy" in text:
            return True
    return False


CHECKS = (hp_limit_by_balancer, hp_no_redispatch, hp_retry_storm)
