"""Makes plausible bilingual records, the same ones for the same seed: input for the benchmarks.

    python benchmarks/generate.py 100000 > records.jsonl

Words follow the frequencies of the bundled records (unigrams of their sentences, cut and recombined), so that
common words are common and rare ones rare; tags follow the frequencies of their tags.
"""

from __future__ import annotations

import datetime as dt
import json
import random
import sys
from collections.abc import Iterator
from typing import Any

from pilotage.library.bundled import bundled_candidates
from pilotage.library.entry import paragraphs
from pilotage.library.record import LANGS, Record, read_record
from pilotage.library.terms import load_vocabulary

_SYLLABLES = (
    "ba ce di fo gu ka le mi no pu ra se ti vo xu za bren corl dast fenk gild horn jask kolp lumb".split()
)


class Maker:
    """Makes records from the sentences and tags of the bundled ones."""

    def __init__(self, seed: int = 7) -> None:
        self.random = random.Random(seed)
        records = [read_record(candidate.document) for candidate in bundled_candidates()]
        self.sentences = {lang: _sentences(records, lang) for lang in LANGS}
        self.titles = {lang: [getattr(r.title, lang) for r in records if r.title] for lang in LANGS}
        self.phrases = {lang: [p for r in records for p in getattr(r.phrases, lang)] for lang in LANGS}
        self.tags = {
            name: [slug for r in records for slug in getattr(r, name) or []]
            for name in ("domain", "symptoms", "components", "contributing")
        }
        self.causes = [r.root_cause for r in records if r.root_cause]
        self.organisations = [(t.label["en"], t.slug) for t in load_vocabulary().of("organisations").values()]

    def record(self, number: int) -> dict[str, Any]:
        """The record of a number."""
        pick = self.random
        day = dt.date(2010, 1, 1) + dt.timedelta(days=pick.randrange(5800))
        org, slug = pick.choice(self.organisations)
        return {
            "id": f"GEN-{number:06}",
            "org": org,
            "org_slug": slug,
            "date": day.isoformat(),
            "date_kind": "incident",
            "title": self._text(1, titles=True),
            "trigger": self._text(1),
            "detection": self._text(1),
            "summary": self._text(5),
            "symptoms_text": self._text(3),
            "lessons": self._text(2),
            "domain": self._some("domain", 2),
            "symptoms": self._some("symptoms", 3),
            "components": self._some("components", 4),
            "contributing": self._some("contributing", 2),
            "root_cause": pick.choice(self.causes),
            "severity": "unknown",
            "impact": {"scope": "unknown", "users": "unknown", "region": "unknown"},
            "timeline": {
                "detected_after": f"{pick.randrange(1, 59)}m",
                "resolved_after": f"{pick.randrange(1, 30)}h",
            },
            "remediation": [{"text": self._text(1)}],
            "action_items": [{"text": self._text(1)}],
            "sources": [{"url": f"https://status.example.org/{slug}/{number}", "kind": "blog"}],
            "docs": [],
            "related": [],
            "recurrence_of": None,
            "review": {"written_by": None, "reviewed_at": None, "reviewed_by": None},
            "updated_at": "2026-01-01T00:00:00.000000Z",
            "url": None,
            "phrases": {lang: pick.sample(self.phrases[lang], 2) for lang in LANGS},
        }

    def _text(self, sentences: int, *, titles: bool = False) -> dict[str, str]:
        found = {}
        for lang in LANGS:
            pool = self.titles[lang] if titles else self.sentences[lang]
            parts = [self._mixed(pool) for _ in range(sentences)]
            found[lang] = " ".join(parts) + f" {self._name()}"
        return found

    def _mixed(self, pool: list[str]) -> str:
        # The head of one sentence and the tail of another: new sentences of the same words.
        one, two = self.random.choice(pool).split(), self.random.choice(pool).split()
        cut = self.random.randrange(1, max(2, len(one)))
        return " ".join([*one[:cut], *two[min(cut, len(two) - 1) :]])

    def _name(self) -> str:
        # Names that few records share, as hosts and services have.
        return "".join(self.random.choices(_SYLLABLES, k=3))

    def _some(self, name: str, most: int) -> list[str]:
        return list(dict.fromkeys(self.random.choices(self.tags[name], k=self.random.randint(1, most))))


def _sentences(records: list[Record], lang: str) -> list[str]:
    found = []
    for record in records:
        for _, text in record.texts():
            for paragraph in paragraphs(getattr(text, lang)):
                found += [part.strip() for part in paragraph.replace("\n", " ").split(". ") if len(part) > 20]
    return found


def records(count: int, seed: int = 7) -> Iterator[dict[str, Any]]:
    """`count` records."""
    maker = Maker(seed)
    return (maker.record(number) for number in range(count))


QUERIES = (
    "pods overloaded after haproxy reload", "retry storm after cold cache", "coredns out of memory",
    "certificate expired load balancer", "api server overloaded by daemonset", "zookeeper session expired proxies",
    "bgp route withdrawal dns unreachable", "admission webhook timeout blocks deployments", "502 bad gateway nginx",
    "health checks fail and instances are replaced", "configuration push went global", "conntrack table full dns timeout",
    "연결 재시도가 몰려 데이터베이스 과부하", "인그레스 파드 메모리 부족", "인증서 만료로 접속 불가", "설정 배포 후 전체 장애",
    "노드가 NotReady 상태", "DNS 이름 해석 실패", "주키퍼 쿼럼 상실", "롤백이 안 되는 배포",
)  # fmt: skip
"""Queries of the kind that people type, over words that the generated records hold."""


if __name__ == "__main__":
    for item in records(int(sys.argv[1]) if len(sys.argv) > 1 else 1000):
        sys.stdout.write(json.dumps(item, ensure_ascii=False) + "\n")
