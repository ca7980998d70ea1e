"""The tools of checks: list_checks, explain_check, check_manifests, check_cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mcp.server.mcpserver.tools import Tool

from pilotage.checks.model import Check, Cited, Finding
from pilotage.checks.readers.live import ClusterQuestion, read_cluster
from pilotage.checks.report import Report
from pilotage.checks.reports.incidents import Incidents
from pilotage.checks.runner import RunSettings, run
from pilotage.checks.runner import chosen as chosen_checks
from pilotage.core.errors import NotFound, OutsideError, UserError
from pilotage.core.settings import Settings
from pilotage.library.catalogue import Catalogue
from pilotage.library.record import Lang
from pilotage.web import checking
from pilotage.web.mcp.arguments import Cursor, Format, Language, Limit, MaxTokens
from pilotage.web.mcp.asking import audience, default_language
from pilotage.web.mcp.budget import DEFAULT_TOKENS, fitted, size_of
from pilotage.web.mcp.check_answers import (
    CheckIncident,
    CheckItem,
    ExplainAnswer,
    FindingItem,
    FindingsAnswer,
    ListChecksAnswer,
    Unlooked,
    Unread,
)
from pilotage.web.mcp.check_arguments import (
    Against,
    CheckId,
    CheckIncidentId,
    CheckQuery,
    ContextName,
    Families,
    FileName,
    Leaving,
    Levels,
    ManifestText,
    Namespaces,
    OwnChecks,
    Selecting,
)
from pilotage.web.mcp.paging import paged, whole_items
from pilotage.web.mcp.reading import clean
from pilotage.web.mcp.tooling import library_tool
from pilotage.web.mcp.words import like_ids

_MOST_UNREAD = 8
_CLUSTER_SILENCE_SECONDS = 15.0
_CLEAN = "No check found a gap in what was read. That is no proof: see objects, problems and unknown."
_NOT_UNDERSTOOD = "Nothing in the text was understood, so nothing was checked: see problems."


class CheckTools:
    """The tools of checks.

    Args:
        settings: for the language.
        catalogue: tells of the incidents that checks cite.
        offer: the checks.
    """

    def __init__(self, settings: Settings, catalogue: Catalogue, offer: checking.Offer) -> None:
        self._catalogue = catalogue
        self._offer = offer
        self._default = default_language(settings)

    def list_checks(  # noqa: PLR0913, PLR0917 - the SDK makes the arguments of the tool from these
        self,
        q: CheckQuery = None,
        severity: Levels = [],  # noqa: B006 - pydantic copies it
        family: Families = [],  # noqa: B006 - pydantic copies it
        incident: CheckIncidentId = None,
        limit: Limit = 20,
        cursor: Cursor = None,
        max_tokens: MaxTokens = DEFAULT_TOKENS,
    ) -> ListChecksAnswer:
        """See `DESCRIPTIONS`."""
        wanted = checking.Wanted(tuple(severity), tuple(family), incident or "", q or "")
        found = self._offer.part(wanted, limit=limit, cursor=cursor)
        items = [_item(one) for one in found.items]
        all_families = self._offer.families if cursor is None and wanted == checking.Wanted() else None

        def build(count: int) -> ListChecksAnswer:
            shown = whole_items(items, count, lambda item: item.model_copy(update={"incidents": None}))
            made = ListChecksAnswer(total=found.total, shown=len(shown), families=all_families, checks=shown)
            paged(made, len(items), found.onward)
            if not found.total:
                made.note = "No check fits. That is an answer: nothing looks for this by itself."
            return made

        return fitted(build, len(items), max_tokens)

    def explain_check(
        self,
        id: CheckId,  # noqa: A002 - the field's word
        lang: Language = None,
        max_tokens: MaxTokens = DEFAULT_TOKENS,
    ) -> ExplainAnswer:
        """See `DESCRIPTIONS`."""
        one = self._named(id)
        known = checking.incidents_of([one], self._catalogue, audience(), lang or self._default)
        answer = ExplainAnswer(
            id=one.id,
            title=one.title,
            family=one.family,
            severity=one.severity.value,
            about=list(one.about),
            needs=list(one.needs) or None,
            page={},
            incidents=[_incident(cited, known) for cited in one.cited],
        )
        for section, text in one.page.items():
            whole = answer.model_copy(update={"page": {**answer.page, section: text}})
            if size_of(whole) <= max_tokens:
                answer = whole
            else:
                answer.left_out = [*(answer.left_out or []), section]
        return answer

    def check_manifests(  # noqa: PLR0913, PLR0917 - the SDK makes the arguments of the tool from these
        self,
        text: ManifestText,
        name: FileName = "pasted",
        select: Selecting = [],  # noqa: B006 - pydantic copies it
        ignore: Leaving = [],  # noqa: B006 - pydantic copies it
        kubernetes: Against = None,
        own_checks: OwnChecks = "",
        lang: Language = None,
        limit: Limit = 20,
        cursor: Cursor = None,
        response_format: Format = "concise",
        max_tokens: MaxTokens = DEFAULT_TOKENS,
    ) -> FindingsAnswer:
        """See `DESCRIPTIONS`."""
        question = ("text", text, name, sorted(select), sorted(ignore), kubernetes, own_checks)
        asked = checking.Question(
            text, name, tuple(select), tuple(ignore), kubernetes or "", own_checks=own_checks
        )
        report = self._offer.check_text(asked)
        page = _Page(question, cursor, limit, detailed=response_format == "detailed", max_tokens=max_tokens)
        return self._findings(report, page, lang or self._default)

    def manifests_tool(self) -> Tool:
        """The tool check_manifests, with own checks only where they are accepted."""
        tool = library_tool(self.check_manifests)
        if not self._offer.accepts:
            del tool.parameters["properties"]["own_checks"]
        return tool

    def check_cluster(  # noqa: PLR0913, PLR0917 - the SDK makes the arguments of the tool from these
        self,
        context: ContextName = None,
        namespace: Namespaces = [],  # noqa: B006 - pydantic copies it
        select: Selecting = [],  # noqa: B006 - pydantic copies it
        ignore: Leaving = [],  # noqa: B006 - pydantic copies it
        lang: Language = None,
        limit: Limit = 20,
        cursor: Cursor = None,
        response_format: Format = "concise",
        max_tokens: MaxTokens = DEFAULT_TOKENS,
    ) -> FindingsAnswer:
        """See `DESCRIPTIONS`."""
        question = ("cluster", context, sorted(namespace), sorted(select), sorted(ignore))
        asked = ClusterQuestion(None, context, tuple(namespace), _CLUSTER_SILENCE_SECONDS)
        settings = RunSettings(select=tuple(select), ignore=tuple(ignore))
        with checking.room(), self._offer.running() as checks:
            report = cluster_report(asked, settings, checks)
        page = _Page(question, cursor, limit, detailed=response_format == "detailed", max_tokens=max_tokens)
        return self._findings(report, page, lang or self._default)

    def _named(self, name: str) -> Check:
        try:
            return self._offer.named(name)
        except NotFound as error:
            near = like_ids(name, list(self._offer.checks))
            if not near:
                raise
            hint = f"Did you mean {' or '.join(repr(known) for known in near)}?"
            raise NotFound(f"there is no check '{name[:120]}'", hint=hint) from error

    def _findings(self, report: Report, page: _Page, lang: Lang) -> FindingsAnswer:
        known = checking.incidents_of(report.checks.values(), self._catalogue, audience(), lang)
        found = checking.findings_part(report, limit=page.limit, cursor=page.cursor, question=page.question)
        items = [_finding(one, known, detailed=page.detailed) for one in found.items]
        problems, unknown, more = _unread(report) if page.cursor is None else (None, None, None)

        def build(count: int) -> FindingsAnswer:
            shown = whole_items(items, count, _bare)
            made = FindingsAnswer(
                total=found.total,
                shown=len(shown),
                severities={level.value: n for level, n in report.counts().items()},
                objects=report.objects,
                findings=shown,
                problems=problems,
                unknown=unknown,
                unread=more,
            )
            paged(made, len(items), found.onward)
            if not found.total:
                made.note = _CLEAN if report.objects else _NOT_UNDERSTOOD
            return made

        return fitted(build, len(items), page.max_tokens)


@dataclass(frozen=True)
class _Page:
    """Which part of the findings, and how much of each."""

    question: tuple[object, ...]
    cursor: str | None
    limit: int
    detailed: bool
    max_tokens: int


def cluster_report(question: ClusterQuestion, settings: RunSettings, known: Mapping[str, Check]) -> Report:
    """The report on a cluster.

    Raises:
        UserError: the cluster cannot be read, said in words that an agent can act on.
        UnknownTerm: a word of the selection means no check.
    """
    checks = chosen_checks(known, settings).values()
    try:
        found = read_cluster(question, checks)
    except OutsideError as error:
        # What fails here is the reader's cluster, not our store: it is told in full.
        raise UserError(error.message, hint=error.hint) from error
    return run(known, found.scene(), settings, reading=found.reading)


def _item(one: Check) -> CheckItem:
    return CheckItem(
        id=one.id,
        title=one.title,
        family=one.family,
        severity=one.severity.value,
        incidents=[cited.id for cited in one.cited] or None,
    )


def _incident(cited: Cited, known: Incidents) -> CheckIncident:
    told = known.get(cited.id)
    return CheckIncident(id=cited.id, line=clean(told.line) if told else None, exact=cited.exact)


def _finding(one: Finding, known: Incidents, *, detailed: bool) -> FindingItem:
    cited = one.incidents if detailed else one.incidents[:1]
    return FindingItem(
        check=one.check,
        severity=one.severity.value,
        place=clean(str(one.place)),
        object=clean(one.place.object) or None if one.place.file else None,
        message=clean(one.message),
        evidence=[clean(line) for line in one.evidence] or None if detailed else None,
        fix=clean(one.fix),
        incidents=[_incident(each, known) for each in cited] or None,
        count=one.count if one.count > 1 else None,
    )


def _bare(item: FindingItem) -> FindingItem:
    return FindingItem(
        check=item.check,
        severity=item.severity,
        place=item.place[:200],
        message="left out to keep within max_tokens",
        too_large=True,
    )


def _unread(report: Report) -> tuple[list[Unread] | None, list[Unlooked] | None, int | None]:
    problems = [Unread(place=clean(str(one.place)), message=clean(one.message)) for one in report.problems]
    unknown = [
        Unlooked(
            check=one.check,
            why=clean(one.why),
            place=clean(str(one.place)) if one.place is not None else None,
        )
        for one in report.unknown
    ]
    more = max(0, len(problems) - _MOST_UNREAD) + max(0, len(unknown) - _MOST_UNREAD)
    return problems[:_MOST_UNREAD] or None, unknown[:_MOST_UNREAD] or None, more or None
