"""A report as JUnit XML: a suite a check, a case a finding; a check without findings is one case."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from pilotage.checks.model import Check, Finding
from pilotage.checks.report import Report
from pilotage.checks.reports.incidents import Incidents, cited_lines
from pilotage.checks.reports.words import Lang, sentence, word
from pilotage.core.regex import regex
from pilotage.core.text import printable

_NOT_XML = regex("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(report: Report, incidents: Incidents, *, lang: Lang = "en") -> str:
    """The report as an XML document."""
    root = ET.Element("testsuites", name="pilotage check")
    for check in report.checks.values():
        _suite(root, check, report, incidents, lang)
    if report.problems:
        suite = ET.SubElement(root, "testsuite", name="reading")
        for problem in report.problems:
            case = ET.SubElement(suite, "testcase", classname="reading", name=_clean(str(problem.place)))
            kind = "error" if problem.grave else "skipped"
            ET.SubElement(case, kind, message=_clean(sentence(problem.message, lang)))
        _count(suite)
    # The schema that Jenkins validates by knows no `skipped` here, and no `file` and `line` of a case.
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    ET.indent(root, " ")
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(root: ET.Element, check: Check, report: Report, incidents: Incidents, lang: Lang) -> None:
    suite = ET.SubElement(root, "testsuite", name=check.id)
    for finding in report.findings:
        if finding.check == check.id:
            _failure(suite, finding, incidents, lang)
    for unknown in report.unknown:
        if unknown.check == check.id:
            name = str(unknown.place) if unknown.place is not None else check.title
            case = ET.SubElement(suite, "testcase", classname=check.id, name=_clean(name))
            told = f"{word('unknown', lang)}: {sentence(unknown.why, lang)}"
            ET.SubElement(case, "skipped", message=_clean(told))
    if len(suite) == 0:
        case = ET.SubElement(suite, "testcase", classname=check.id, name=check.title)
        tally = report.tallies.get(check.id)
        if tally is None or not tally.passed + tally.findings:
            ET.SubElement(case, "skipped", message=word("not applicable", lang))
    _count(suite)


def _failure(suite: ET.Element, finding: Finding, incidents: Incidents, lang: Lang) -> None:
    case = ET.SubElement(suite, "testcase", classname=finding.check, name=_clean(finding.subject))
    failure = ET.SubElement(case, "failure", type=str(finding.severity), message=_clean(finding.message))
    lines = [str(finding.place), *finding.evidence, f"{word('fix', lang).capitalize()}: {finding.fix}"]
    seen = word("seen", lang).capitalize()
    lines += [f"{seen}: {line}" for line in cited_lines(finding.incidents, incidents, lang)]
    failure.text = _clean("\n".join(lines))


def _count(suite: ET.Element) -> None:
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("errors", str(len(suite.findall("testcase/error"))))
    suite.set("skipped", str(len(suite.findall("testcase/skipped"))))


def _clean(text: str) -> str:
    return printable(_NOT_XML.sub("\ufffd", text))
