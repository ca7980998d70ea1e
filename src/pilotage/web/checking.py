"""Checks as the doors offer them: which there are, what one says of a text, joined with the library by id."""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from pilotage.checks.choosing import chosen
from pilotage.checks.model import Answer, Check, Finding, Severity
from pilotage.checks.own.checks import check_of, prove
from pilotage.checks.own.evaluation import Evaluator, Limits
from pilotage.checks.own.model import OwnCheck
from pilotage.checks.own.reading import read_files, read_texts
from pilotage.checks.readers.assemble import assemble
from pilotage.checks.readers.files import read_text
from pilotage.checks.registry import all_checks
from pilotage.checks.report import Report
from pilotage.checks.reports.incidents import Incident, Incidents
from pilotage.checks.runner import RunSettings, run
from pilotage.checks.scene import LATEST
from pilotage.checks.target import EXAMPLE, read_target
from pilotage.core.cursors import Cut, cut
from pilotage.core.cursors import Question as CursorQuestion
from pilotage.core.errors import Busy, InvalidInput, NotFound, TooLarge, UserError
from pilotage.core.settings import WebSettings
from pilotage.core.text import did_you_mean
from pilotage.library.catalogue import Catalogue
from pilotage.library.record import Lang
from pilotage.library.stores.protocol import Audience
from pilotage.web.wrapping import refuse_wrapped

MOST_BYTES = 1024 * 1024
"""The longest text that is checked for somebody else; the command line has no limit."""
MOST_DOCUMENTS = 500
MOST_SECONDS = 20.0
MOST_OWN_BYTES = 64 * 1024
"""The longest text of own checks that somebody may send along."""
MOST_OWN_CHECKS = 50
_OWN_NAME = "own_checks"
_WORST_RANK = Severity.CRITICAL.rank
_OWN_LIMITS = Limits(seconds=5.0, memory_bytes=1 << 29, deaths=1, all_seconds=MOST_SECONDS / 2)
_AT_ONCE = 2
"""Checking is work for the processor: more at once would only make each of them, and the pages, slower."""
_PATIENCE_SECONDS = 2.0
_SEPARATOR = re.compile(r"^---(?:\s|$)", re.MULTILINE)
_ROOM = threading.BoundedSemaphore(_AT_ONCE)
_ELSEWHERE = "Send less at once, or use `pilotage check` on the command line, which has no limits."


@contextmanager
def room() -> Iterator[None]:
    """A place among the few that check at one time; what waits too long for one is told so.

    Raises:
        Busy: others are being checked.
    """
    if not _ROOM.acquire(timeout=_PATIENCE_SECONDS):
        raise Busy("too many checks are running at once", hint="Try again in a few seconds.")
    try:
        yield
    finally:
        _ROOM.release()


@dataclass(frozen=True)
class Question:
    """A text to check, and how.

    Attributes:
        text: manifests, or the configuration of a proxy.
        name: what the file is called; it helps to tell what it is, and no file is opened.
        select: ids, families or globs; none means all.
        ignore: likewise, what to leave out.
        kubernetes: the version that it is meant for; empty means the newest that is known.
        own_checks: checks of the one who asks, as they would stand in a file.
    """

    text: str
    name: str = "pasted"
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    kubernetes: str = ""
    own_checks: str = ""


@dataclass(frozen=True)
class Wanted:
    """Which checks are asked for; each door calls these by the same names.

    Attributes:
        severity: any of these.
        family: any of these.
        incident: one that they cite.
        q: words, each of which must stand in the id, the title, the family, or what the check does.
    """

    severity: tuple[str, ...] = ()
    family: tuple[str, ...] = ()
    incident: str = ""
    q: str = ""


class Offer:
    """The checks that a server offers: those that are shipped, and those of whoever started it.

    Args:
        own: the checks of whoever started it, already found in order.
        accepts: whether a request may bring checks of its own.
    """

    def __init__(self, own: Sequence[OwnCheck] = (), *, accepts: bool = False) -> None:
        self.accepts = accepts
        self._own = tuple(own)
        told = {one.stated.id: check_of(one, Evaluator()) for one in own}
        self.checks: Mapping[str, Check] = dict(sorted({**all_checks(), **told}.items()))
        """All of them by id, to be told of. To run them, see `running`."""
        told_of = "\n".join([str(accepts), *(repr(one.stated) for one in own)])
        self.mark = hashlib.sha256(told_of.encode()).hexdigest()[:16]
        """Another one for every other offer of one release."""

    @classmethod
    def of(cls, settings: WebSettings) -> Offer:
        """What the settings say.

        Raises:
            NotFound, InvalidInput: a file of own checks is not there or wrong.
            MissingExtra: there are some, and the CEL library is not installed.
        """
        own = read_files([Path(one) for one in settings.own_checks], all_checks())
        if own:
            with Evaluator() as evaluator:
                prove(own, evaluator)
        return cls(own, accepts=settings.accept_own_checks)

    @contextmanager
    def running(self, sent: str = "", limits: Limits | None = None) -> Iterator[Mapping[str, Check]]:
        """All checks, to be run; the process of own checks is started when it is needed and ends with this.

        Each run has a process of its own, so that what one text does to it hits nobody else.

        Args:
            sent: further checks, as they would stand in a file.
            limits: what the evaluation of own checks may take.

        Raises:
            UserError: further checks are not accepted here.
            InvalidInput: they are wrong.
        """
        checks = [*self._own, *self._read(sent)]
        with Evaluator(limits or Limits()) as evaluator:
            prove(checks[len(self._own) :], evaluator)
            own = {one.stated.id: check_of(one, evaluator) for one in checks}
            yield dict(sorted({**all_checks(), **own}.items()))

    def _read(self, sent: str) -> list[OwnCheck]:
        if not sent.strip():
            return []
        if not self.accepts:
            raise UserError(
                "this server runs no checks that are sent to it",
                hint="Start it with --accept-own-checks, or use `pilotage check --checks FILE`.",
            )
        if len(sent.encode("utf-8", "surrogateescape")) > MOST_OWN_BYTES:
            raise TooLarge(f"the own checks are longer than {MOST_OWN_BYTES} bytes", hint=_ELSEWHERE)
        checks = read_texts([(_OWN_NAME, sent)], self.checks)
        if len(checks) > MOST_OWN_CHECKS:
            raise TooLarge(f"there are more than {MOST_OWN_CHECKS} own checks", hint=_ELSEWHERE)
        return checks

    def check_text(self, question: Question, *, seconds: float = MOST_SECONDS) -> Report:
        """The report on a text. Nothing is written, no file is opened and no program of others is started.

        Args:
            question: the text.
            seconds: how long it may take.

        Raises:
            InvalidInput: the text is empty, too large or in a wrapper, it took too long, or its own checks
                are wrong.
            UserError: own checks are not accepted here.
            Busy: others are being checked.
            UnknownTerm: a word of the selection means no check.
        """
        version = version_of(question.kubernetes)
        _measure(question.text)
        refuse_wrapped(question.text)
        with room():
            # The clock starts here: waiting for the others is not this text's fault.
            listener = _deadline(seconds)
            with self.running(question.own_checks, _OWN_LIMITS) as checks:
                reading = read_text(question.text, question.name)
                settings = RunSettings(select=question.select, ignore=question.ignore)
                scene = assemble(reading, version=version)
                return run(checks, scene, settings, reading=reading, listener=listener)

    def named(self, name: str) -> Check:
        """A check by id.

        Raises:
            NotFound: there is none; the hint names the nearest ids.
        """
        if name not in self.checks:
            hint = did_you_mean(name, self.checks) or "The list of checks has all ids."
            raise NotFound(f"there is no check '{name[:120]}'", hint=hint)
        return self.checks[name]

    def chosen(self, wanted: Wanted) -> list[Check]:
        """The checks that fit, worst first, then by family and id.

        Raises:
            UnknownTerm: a severity or a family does not exist.
        """
        return chosen(
            self.checks.values(),
            severities=wanted.severity,
            families=wanted.family,
            incident=wanted.incident,
            words=wanted.q,
        )

    def part(self, wanted: Wanted, *, limit: int, cursor: str | None) -> Cut[Check]:
        """A part of the checks that fit.

        Raises:
            UnknownTerm: see `chosen`.
            InvalidInput: the cursor is none, or belongs to another list.
        """
        question = ("checks", sorted(wanted.severity), sorted(wanted.family), wanted.incident, wanted.q)
        return cut(self.chosen(wanted), _order, size=3, limit=limit, cursor=cursor, question=question)

    @cached_property
    def families(self) -> list[str]:
        """The families, by name."""
        return sorted({one.family for one in self.checks.values()})

    @cached_property
    def _by_incident(self) -> dict[str, list[tuple[Check, bool]]]:
        found: dict[str, list[tuple[Check, bool]]] = defaultdict(list)
        for one in self.checks.values():
            for cited in one.cited:
                found[cited.id].append((one, cited.exact))
        for listed in found.values():
            listed.sort(key=lambda pair: (not pair[1], -pair[0].severity.rank, pair[0].id))
        return dict(found)

    def looking_for(self, incident: str) -> list[tuple[Check, bool]]:
        """The checks that look for what an incident came of, those of this very gap (true) first."""
        return self._by_incident.get(incident, [])


@cache
def shipped() -> Offer:
    """The offer of a server that was started without own checks."""
    return Offer()


def _measure(text: str) -> None:
    if not text.strip():
        raise InvalidInput(
            "there is nothing to check",
            hint="Send Kubernetes manifests, or the configuration of HAProxy, nginx or CoreDNS, as text.",
        )
    if len(text.encode("utf-8", "surrogateescape")) > MOST_BYTES:
        raise too_long()
    documents = len(_SEPARATOR.findall(text)) + 1
    if documents > MOST_DOCUMENTS + 1:
        raise TooLarge(f"the text has more than {MOST_DOCUMENTS} documents", hint=_ELSEWHERE)


def too_long() -> TooLarge:
    """What every door says of a text that is longer than `MOST_BYTES`."""
    return TooLarge(f"the text is longer than {MOST_BYTES} bytes", hint=_ELSEWHERE)


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
    version = read_target(text)
    if version is None:
        raise InvalidInput(f"'{text[:20]}' is no version of Kubernetes", hint=f"Write one such as {EXAMPLE}.")
    return version


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


def findings_part(
    report: Report, *, limit: int, cursor: str | None, question: CursorQuestion
) -> Cut[Finding]:
    """A part of the findings of a report, worst first.

    Raises:
        InvalidInput: the cursor is none, or belongs to another text.
    """
    return cut(report.findings, _place, size=8, limit=limit, cursor=cursor, question=question)


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


def incident_checks(found: Iterable[tuple[Check, bool]]) -> list[dict[str, Any]]:
    """The checks that look for what an incident came of; see `models.LookingCheck`."""
    return [
        {
            "id": one.id,
            "title": one.title,
            "severity": one.severity.value,
            "exact": exact,
            "url": f"/checks/{one.id}",
        }
        for one, exact in found
    ]


def _order(one: Check) -> tuple[str, str, str]:
    return f"{_WORST_RANK - one.severity.rank}", one.family, one.id


def _place(one: Finding) -> tuple[str, ...]:
    # As reports are ordered; numbers are written so that they compare as texts.
    place = one.place
    return (
        f"{_WORST_RANK - one.severity.rank}",
        one.check,
        place.file,
        f"{place.line:09}",
        f"{place.column:09}",
        place.object,
        place.path,
        one.fingerprint,
    )
