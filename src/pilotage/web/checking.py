"""Checks as the doors offer them: which there are, what one says of a text, joined with the library by id."""

from __future__ import annotations

import re
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from pilotage.checks.model import Answer, Check, Severity
from pilotage.checks.readers.assemble import assemble
from pilotage.checks.readers.files import read_text
from pilotage.checks.registry import all_checks
from pilotage.checks.report import Report
from pilotage.checks.reports.incidents import Incident, Incidents
from pilotage.checks.runner import RunSettings, run
from pilotage.checks.scene import LATEST
from pilotage.core.errors import Busy, InvalidInput, NotFound, UnknownTerm
from pilotage.core.text import did_you_mean
from pilotage.library.catalogue import Catalogue
from pilotage.library.record import Lang
from pilotage.library.stores.protocol import Audience

MOST_BYTES = 1024 * 1024
"""The longest text that is checked for somebody else; the command line has no limit."""
MOST_DOCUMENTS = 500
MOST_SECONDS = 20.0
_AT_ONCE = 2
"""Checking is work for the processor: more at once would only make each of them, and the pages, slower."""
_PATIENCE_SECONDS = 2.0
_SEPARATOR = re.compile(r"^---(?:\s|$)", re.MULTILINE)
_VERSION = re.compile(r"v?(\d{1,3})\.(\d{1,3})(?:\.\d{1,3})?")
_ROOM = threading.BoundedSemaphore(_AT_ONCE)
_ELSEWHERE = "Send less at once, or use `pilotage check` on the command line, which has no limits."


@dataclass(frozen=True)
class Question:
    """A text to check, and how.

    Attributes:
        text: manifests, or the configuration of a proxy.
        name: what the file is called; it helps to tell what it is, and no file is opened.
        select: ids, families or globs; none means all.
        ignore: likewise, what to leave out.
        kubernetes: the version that it is meant for; empty means the newest that is known.
    """

    text: str
    name: str = "pasted"
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    kubernetes: str = ""


def check_text(question: Question, *, seconds: float = MOST_SECONDS) -> Report:
    """The report on a text. Nothing is written, no file is opened and no program is started.

    Args:
        question: the text.
        seconds: how long it may take.

    Raises:
        InvalidInput: the text is empty or too large, or it took too long.
        Busy: others are being checked.
        UnknownTerm: a word of the selection means no check.
    """
    version = version_of(question.kubernetes)
    _measure(question.text)
    if not _ROOM.acquire(timeout=_PATIENCE_SECONDS):
        raise Busy("too many texts are being checked at once", hint="Try again in a few seconds.")
    try:
        # The clock starts here: waiting for the others is not this text's fault.
        listener = _deadline(seconds)
        reading = read_text(question.text, question.name)
        settings = RunSettings(select=question.select, ignore=question.ignore)
        return run(
            all_checks(), assemble(reading, version=version), settings, reading=reading, listener=listener
        )
    finally:
        _ROOM.release()


def _measure(text: str) -> None:
    if not text.strip():
        raise InvalidInput(
            "there is nothing to check",
            hint="Send Kubernetes manifests, or the configuration of HAProxy, nginx or CoreDNS, as text.",
        )
    if len(text.encode("utf-8", "surrogateescape")) > MOST_BYTES:
        raise InvalidInput(f"the text is longer than {MOST_BYTES} bytes", hint=_ELSEWHERE)
    documents = len(_SEPARATOR.findall(text)) + 1
    if documents > MOST_DOCUMENTS + 1:
        raise InvalidInput(f"the text has more than {MOST_DOCUMENTS} documents", hint=_ELSEWHERE)


def _deadline(seconds: float) -> Callable[[Check, Answer], None]:
    # A thread cannot be stopped from outside, so the run itself looks at the clock after each answer.
    end = time.monotonic() + seconds

    def listener(_: Check, __: Answer) -> None:
        if time.monotonic() > end:
            raise InvalidInput(f"checking took longer than {seconds:g} seconds", hint=_ELSEWHERE)

    return listener


def version_of(text: str) -> tuple[int, int]:
    """The Kubernetes version that a word names.

    Raises:
        InvalidInput: it is none.
    """
    if not text:
        return LATEST
    match = _VERSION.fullmatch(text)
    if match is None:
        raise InvalidInput(f"'{text[:20]}' is no version of Kubernetes", hint="Write one such as 1.34.")
    return int(match[1]), int(match[2])


def check_named(name: str) -> Check:
    """A check by id.

    Raises:
        NotFound: there is none; the hint names the nearest ids.
    """
    known = all_checks()
    if name not in known:
        hint = did_you_mean(name, known) or "The list of checks has all ids."
        raise NotFound(f"there is no check '{name[:120]}'", hint=hint)
    return known[name]


def chosen(
    severities: Sequence[str] = (), families: Sequence[str] = (), incident: str = "", words: str = ""
) -> list[Check]:
    """The checks that fit, worst first, then by family and id.

    Args:
        severities: any of these.
        families: any of these.
        incident: one that they cite.
        words: each must stand in the id, the title, the family, or what the check does.

    Raises:
        UnknownTerm: a severity or a family does not exist.
    """
    for given, known, what in (
        (severities, [one.value for one in Severity], "severity"),
        (families, family_names(), "family of checks"),
    ):
        for word in given:
            if word not in known:
                hint = did_you_mean(word, known) or f"Known are: {', '.join(known)}."
                raise UnknownTerm(f"'{word[:60]}' is no {what}", hint=hint)
    wanted = words.lower().split()
    found = [
        one
        for one in all_checks().values()
        if (not severities or one.severity.value in severities)
        and (not families or one.family in families)
        and (not incident or any(cited.id == incident for cited in one.cited))
        and all(word in _text_of(one.id) for word in wanted)
    ]
    return sorted(found, key=lambda one: (-one.severity.rank, one.family, one.id))


@cache
def _text_of(name: str) -> str:
    one = all_checks()[name]
    return f"{one.id} {one.title} {one.family} {one.page['What it does']}".lower()


@cache
def family_names() -> list[str]:
    """The families, by name."""
    return sorted({one.family for one in all_checks().values()})


@cache
def _by_incident() -> dict[str, list[tuple[Check, bool]]]:
    found: dict[str, list[tuple[Check, bool]]] = defaultdict(list)
    for one in all_checks().values():
        for cited in one.cited:
            found[cited.id].append((one, cited.exact))
    for listed in found.values():
        listed.sort(key=lambda pair: (not pair[1], -pair[0].severity.rank, pair[0].id))
    return dict(found)


def checks_for(incident: str) -> list[tuple[Check, bool]]:
    """The checks that look for what an incident came of, and whether it was this very gap; those first."""
    return _by_incident().get(incident, [])


def incidents_of(
    checks: Iterable[Check], catalogue: Catalogue, audience: Audience, lang: Lang
) -> dict[str, Incident]:
    """What the library tells of the incidents that some checks cite, as far as the audience may see them."""
    wanted = sorted({cited.id for one in checks for cited in one.cited})
    found = {}
    for id_, stored in catalogue.store.get(wanted, audience).items():
        document = stored.document
        title: Mapping[str, str] = document.get("title") or {}
        said = title.get(lang) or title.get("en") or title.get("ko") or id_
        found[id_] = Incident(
            id_, str(document.get("org") or "?"), str(document.get("date") or "")[:4], str(said)
        )
    return found


def check_item(one: Check, incidents: Incidents) -> dict[str, Any]:
    """A check in a list; see `check_models.CheckItem`."""
    return {
        "id": one.id,
        "title": one.title,
        "family": one.family,
        "severity": one.severity.value,
        "documentation_only": one.documentation_only,
        "incidents": [
            {
                "id": cited.id,
                "title": known.title if (known := incidents.get(cited.id)) else None,
                "organisation": known.organisation if known else None,
                "year": known.year if known else None,
                "exact": cited.exact,
            }
            for cited in one.cited
        ],
        "url": f"/checks/{one.id}",
    }


def whole_check(one: Check, incidents: Incidents) -> dict[str, Any]:
    """A check with its page; see `check_models.WholeCheck`."""
    return {
        **check_item(one, incidents),
        "about": list(one.about),
        "needs": list(one.needs),
        "fix": one.fix,
        "references": one.references,
        "page": one.page,
    }


def incident_checks(incident: str) -> list[dict[str, Any]]:
    """The checks that look for what an incident came of; see `models.LookingCheck`."""
    return [
        {
            "id": one.id,
            "title": one.title,
            "severity": one.severity.value,
            "exact": exact,
            "url": f"/checks/{one.id}",
        }
        for one, exact in checks_for(incident)
    ]
