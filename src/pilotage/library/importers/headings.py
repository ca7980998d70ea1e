"""Which heading of a post-mortem says what: English and Korean, as the usual templates put it."""

from __future__ import annotations

import re

from pilotage.core.text import normalise

SECTIONS: dict[str, tuple[str, ...]] = {
    "summary": (
        "summary",
        "executive summary",
        "incident summary",
        "overview",
        "tl;dr",
        "tldr",
        "abstract",
        "introduction",
        "description",
        "what happened",
        "background",
        "problem",
        "issue summary",
        "problem summary",
        "요약",
        "개요",
        "장애 요약",
        "장애 개요",
        "사건 개요",
        "배경",
        "무슨 일이 있었나",
        "무슨 일이 있었나요",
        "무엇이 일어났나",
        "설명",
        "문제",
        "문제 요약",
    ),
    "impact": (
        "impact",
        "customer impact",
        "user impact",
        "business impact",
        "impact assessment",
        "who was affected",
        "영향",
        "영향 범위",
        "고객 영향",
        "사용자 영향",
        "서비스 영향",
        "장애 영향",
        "피해 범위",
        "영향도",
    ),
    "symptoms": ("symptoms", "symptom", "manifestation", "증상", "현상", "장애 현상", "장애 증상"),
    "cause": (
        "root cause",
        "root causes",
        "root cause analysis",
        "cause",
        "causes",
        "why did it happen",
        "why it happened",
        "rca",
        "root cause(s)",
        "fault",
        "technical analysis",
        "analysis",
        "원인",
        "근본 원인",
        "장애 원인",
        "원인 분석",
        "발생 원인",
        "왜 발생했나",
        "왜 일어났나",
    ),
    "trigger": (
        "trigger",
        "triggers",
        "what triggered it",
        "triggering event",
        "촉발 요인",
        "트리거",
        "발단",
        "촉발",
        "계기",
    ),
    "detection": (
        "detection",
        "how was it detected",
        "how did we find out",
        "how we detected it",
        "how we noticed",
        "감지",
        "탐지",
        "인지",
        "장애 감지",
        "장애 인지",
        "인지 경위",
        "감지 방법",
    ),
    "contributing": (
        "contributing factors",
        "contributing factor",
        "contributors",
        "contributing conditions",
        "기여 요인",
        "기여 원인",
        "부가 원인",
        "간접 원인",
    ),
    "remediation": (
        "resolution",
        "mitigation",
        "mitigators",
        "remediation",
        "fix",
        "recovery",
        "response",
        "how we fixed it",
        "resolution and recovery",
        "mitigation and resolution",
        "workaround",
        "restoration",
        "what we did",
        "조치",
        "해결",
        "해결 방법",
        "복구",
        "복구 조치",
        "완화",
        "대응",
        "장애 대응",
        "조치 내용",
        "조치 사항",
        "대응 내용",
        "긴급 조치",
    ),
    "action_items": (
        "action items",
        "action item",
        "actions",
        "follow-ups",
        "follow ups",
        "follow-up",
        "follow-up actions",
        "follow up actions",
        "next steps",
        "corrective actions",
        "preventive measures",
        "preventive actions",
        "corrective and preventative measures",
        "corrective and preventive measures",
        "prevention",
        "what's next",
        "what we are doing",
        "future work",
        "improvements",
        "todo",
        "tasks",
        "후속 조치",
        "재발 방지",
        "재발 방지 대책",
        "재발 방지책",
        "액션 아이템",
        "개선 사항",
        "개선 과제",
        "향후 계획",
        "앞으로의 계획",
        "할 일",
    ),
    "lessons": (
        "lessons learned",
        "lessons",
        "learnings",
        "what we learned",
        "takeaways",
        "what went well",
        "what went wrong",
        "what went badly",
        "what could have gone better",
        "what could be improved",
        "where we got lucky",
        "things that went well",
        "things that went poorly",
        "risks",
        "교훈",
        "배운 점",
        "얻은 교훈",
        "회고",
        "잘된 점",
        "잘한 점",
        "잘못된 점",
        "아쉬운 점",
        "못한 점",
        "운이 좋았던 점",
    ),
    "events": (
        "timeline",
        "incident timeline",
        "chronology",
        "sequence of events",
        "timeline of events",
        "event timeline",
        "타임라인",
        "경과",
        "장애 경과",
        "시간대별 경과",
        "진행 경과",
        "사건 경과",
        "시간순 경과",
        "일지",
    ),
    "docs": (
        "references",
        "links",
        "supporting information",
        "further reading",
        "resources",
        "related links",
        "see also",
        "참고",
        "참고 자료",
        "참고 링크",
        "관련 링크",
        "링크",
    ),
}
"""The record's field (or `cause`, which has no text field of its own) and the headings that lead to it."""

LABELS: dict[str, tuple[str, ...]] = {
    "title": ("title", "incident title", "제목", "장애명"),
    "incident_date": (
        "incident date",
        "date of incident",
        "occurred",
        "발생일",
        "장애 일자",
        "장애일",
        "발생 일자",
    ),
    "date": ("date", "날짜", "일자", "일시"),
    "published": ("published", "published at", "publication date", "작성일", "게시일"),
    "begin": (
        "start",
        "started",
        "start time",
        "started at",
        "began",
        "impact started",
        "impact started at",
        "시작",
        "시작 시각",
        "발생 시각",
        "시작 시간",
        "발생 일시",
    ),
    "end": (
        "end",
        "ended",
        "end time",
        "resolved",
        "resolved at",
        "ended at",
        "fixed at",
        "종료",
        "종료 시각",
        "해결 시각",
        "복구 시각",
        "종료 시간",
        "복구 일시",
    ),
    "severity": ("severity", "심각도", "등급", "장애 등급"),
    "org": ("org", "organization", "organisation", "company", "조직", "회사"),
    "service": (
        "service",
        "services",
        "affected services",
        "affected service",
        "product",
        "서비스",
        "영향 서비스",
    ),
    "url": ("url", "source", "link", "source url", "canonical", "canonical_url", "원문", "출처"),
    "duration": ("duration", "지속 시간", "장애 시간"),
    "authors": ("authors", "author", "owner", "lead", "incident lead", "reporter", "작성자", "담당자"),
    "status": ("status", "state", "상태"),
    "id": ("id", "incident id", "incident number", "reference", "장애 번호"),
}
"""Facts that stand in a line `**Label**: value`, in a table of two columns, or in the front matter."""

_DECORATION = re.compile(r"^[\s#*_\d.)(:>\-–—|\W]+", re.UNICODE)
_TAIL = re.compile(r"[\s:*_：?!.]+$")


def plain_heading(heading: str) -> str:
    """The heading without numbers, emoji and emphasis around it."""
    return _TAIL.sub("", _DECORATION.sub("", heading))


def _tidy(heading: str) -> str:
    plain = plain_heading(normalise(heading)).lower().replace("’", "'")
    return re.sub(r"\s+", " ", plain)


_BY_SECTION = {_tidy(name): target for target, names in SECTIONS.items() for name in names}
_BY_LABEL = {_tidy(name): target for target, names in LABELS.items() for name in names}


def section_for(heading: str) -> str | None:
    """The target of a heading; numbers, emoji and emphasis around it do not matter."""
    plain = _tidy(heading)
    found = _BY_SECTION.get(plain)
    if found is None and "(" in plain:
        found = _BY_SECTION.get(plain.split("(")[0].strip())
    if found is None:
        for part in re.split(r" [&/+] | and |/| 및 ", plain):
            found = found or _BY_SECTION.get(part.strip())
    return found


def label_for(label: str) -> str | None:
    """The target of a label in a line, a table or the front matter."""
    return _BY_LABEL.get(_tidy(label.replace("_", " "))) or _BY_LABEL.get(_tidy(label))
