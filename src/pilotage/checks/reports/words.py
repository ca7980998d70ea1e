"""Words that all forms share, in both languages. What findings and fixes say is always English."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pilotage.checks.model import Severity
from pilotage.checks.report import Report
from pilotage.checks.reports.korean import korean
from pilotage.core import counting

Lang = Literal["en", "ko"]

WORDS: dict[str, tuple[str, str]] = {
    "report": ("Checks", "점검 결과"),
    "read": ("read", "읽은 값"),
    "with": ("with", "관련"),
    "fix": ("fix", "조치"),
    "patch": ("patch", "패치"),
    "seen": ("seen", "사례"),
    "not read": ("not read", "읽지 못함"),
    "skipped": ("skipped", "건너뜀"),
    "unknown": ("unknown", "알 수 없음"),
    "idle": ("idle", "무효"),
    "same mechanism": ("same mechanism", "같은 메커니즘"),
    "documentation only": ("documentation only", "문서에만 근거"),
    "your own": ("your own", "자체 점검"),
    "no findings": ("no findings", "발견 사항 없음"),
    "nothing was checked": ("nothing was checked", "점검한 것이 없음"),
    "not whole": (
        "{} could not be read: the answer is not whole",
        "{}을 읽지 못함: 결과가 완전하지 않음",
    ),
    "more": ("{} more; --output json lists them", "그 밖에 {}건; --output json에 모두 나옴"),
    "more not shown": ("{} more are not shown.", "{}건은 표시하지 않음."),
    "objects of one": ("({} objects)", "(객체 {}개)"),
    "unknown count": ("{} could not be looked at", "확인 불가 {}건"),
    "not applicable count": ("{} do not apply", "해당 없음 {}건"),
    "ignored count": ("{} ignored", "무시 {}건"),
    "before count": ("{} there before the change", "변경 전부터 있던 것 {}건"),
    "known count": ("{} in the baseline", "기준선에 있는 것 {}건"),
    "gone count": ("{} of the baseline are gone", "기준선에서 사라진 것 {}건"),
    "passed over": ("{} passed over ({})", "제외 {}건 ({})"),
    "idle ignore": ("idle ignore of {} at {}", "효과 없는 무시: {}, 위치 {}"),
    "critical": ("critical", "치명적"),
    "high": ("high", "높음"),
    "medium": ("medium", "보통"),
    "low": ("low", "낮음"),
    "severity": ("Severity", "심각도"),
    "file": ("File", "파일"),
    "all files": ("All files", "모든 파일"),
    "incidents": ("What it did to others", "다른 곳에서 일어난 장애"),
    "why": ("Why it matters", "왜 중요한가"),
    "findings": ("Findings", "발견 사항"),
    "ignored": ("Ignored", "무시됨"),
    "reason": ("Reason", "이유"),
    "place": ("Place", "위치"),
    "check": ("Check", "점검"),
    "problems": ("Could not be read", "읽지 못함"),
    "unknowns": ("Could not be looked at", "확인 불가"),
    "idles": ("Decisions without effect", "효과 없는 결정"),
    "confidence": ("confidence", "신뢰도"),
    "scope": ("What was checked", "점검 범위"),
    "all clear": (
        "Nothing was found. What could not be looked at stands below.",
        "발견 사항이 없다. 확인하지 못한 것은 아래에 있다.",
    ),
    "filters": ("Show", "표시"),
    "skip": ("To the findings", "발견 사항으로 바로 가기"),
    "checks that ran": ("Checks that ran", "실행한 점검"),
    "passed": ("passed", "통과"),
    "does not apply": ("does not apply", "해당 없음"),
    "not applicable": (
        "not applicable: there is nothing that it looks at",
        "해당 없음: 점검할 대상이 없음",
    ),
    "idle rule": ("{}: rule ({}): {}", "{}: 규칙 ({}): {}"),
    "left out": (
        "{} results of low rank are left out: more would be refused",
        "순위가 낮은 결과 {}건 제외: 더 많으면 거부됨",
    ),
}
"""Key -> English, Korean."""

_COUNTED = {
    "finding": "발견 사항 {}건",
    "object": "객체 {}개",
    "file": "파일 {}개",
    "check": "점검 {}개",
    "place": "{}곳",
}


def word(key: str, lang: Lang = "en", *values: object) -> str:
    """A word of the table, with values in its places."""
    return WORDS[key][lang == "ko"].format(*values)


def sentence(text: str, lang: Lang = "en") -> str:
    """What a reader or a check said of what was not looked at."""
    return korean(text) if lang == "ko" else text


def counted(number: int, what: str, lang: Lang = "en") -> str:
    """`1 finding`, `2 findings`, `발견 사항 2건`."""
    if lang == "ko":
        return _COUNTED[what].format(number)
    return counting.counted(number, what)


def severities(report: Report, lang: Lang = "en") -> str:
    """`1 critical, 2 high`; empty where there are no findings."""
    counts: Iterable[tuple[Severity, int]] = report.counts().items()
    if lang == "ko":
        return ", ".join(f"{word(severity, lang)} {number}" for severity, number in counts if number)
    return ", ".join(f"{number} {severity}" for severity, number in counts if number)


def summary(report: Report, lang: Lang = "en") -> str:
    """`3 findings: 1 critical, 2 high`."""
    listed = severities(report, lang)
    if not listed:
        return word("no findings" if report.objects else "nothing was checked", lang)
    return f"{counted(len(report.findings), 'finding', lang)}: {listed}"


def scope(report: Report, lang: Lang = "en") -> str:
    """What was looked at, and what was not."""
    objects, files = counted(report.objects, "object", lang), counted(report.files, "file", lang)
    parts = [f"{objects} in {files}" if lang == "en" else f"{files}, {objects}"]
    parts.append(counted(len(report.checks), "check", lang))
    for number, key in (
        (len(report.unknown), "unknown count"),
        (report.not_applicable, "not applicable count"),
        (len(report.ignored), "ignored count"),
        (len(report.before), "before count"),
        (len(report.known), "known count"),
        (report.gone, "gone count"),
    ):
        if number:
            parts.append(word(key, lang, number))
    skipped = sorted(report.skipped.items())
    parts += [word("passed over", lang, number, sentence(why, lang)) for why, number in skipped]
    return " · ".join(parts)
