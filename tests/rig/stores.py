"""Records for the tests of the stores: small, bilingual, seeded."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from pilotage.library.canonical import digest
from pilotage.library.entry import index_entry
from pilotage.library.record import read_record
from pilotage.library.stores.protocol import New, Store, Vector
from pilotage.library.terms import KINDS, Term, Vocabulary, load_vocabulary

_WORDS = """
ingress controller latency timeout retry storm leader election quorum lost
certificate expired dns resolver cache stale rollout canary config template
haproxy envoy nginx proxy backend pool exhausted connection memory leak oom
killed kernel panic disk full replica lag failover zone region outage
traffic shift overload queue backlog throttle quota limit pod node scheduler
kubelet etcd zookeeper session watch endpoint probe readiness liveness
health check drain deploy rollback feature flag
"""
_KOREAN = """
인그레스 컨트롤러 지연 시간 초과 재시도 폭풍 리더 선출 쿼럼 인증서 만료 배포 롤백 설정
템플릿 메모리 누수 디스크 가득 복제 장애 조치 트래픽 과부하 대기열 할당량 노드 준비
상태 검사 캐시 오래된 연결 고갈
"""
_LONG_TAIL = [
    f"{first}{second}{third}"
    for first in ("ba", "ke", "lo", "mi", "nu", "po", "ra", "si", "to", "vu")
    for second in ("dar", "fen", "gol", "hix", "jum", "kas", "lem", "nor", "pid", "quz", "rov", "syl")
    for third in ("a", "eth", "ion", "or", "us", "yx", "ome", "ild", "und", "art")
]
_ENGLISH = [*_WORDS.split(), *_LONG_TAIL]
_COMMONNESS = [1 / (rank + 3) for rank in range(len(_ENGLISH))]
"""As in real text: few words are common, most are rare (Zipf's law)."""
_FACETS = {
    "domain": ["kubernetes", "networking", "dns", "database"],
    "symptoms": ["high-latency", "uneven-load", "oom-killed", "service-unavailable", "high-error-rate"],
    "components": ["ingress", "haproxy", "config-templating", "service-discovery", "coordination-store"],
    "contributing": ["retry-storm", "assumption-unverified", "early-signal-ignored"],
}


def vocabulary(version: int = 1) -> Vocabulary:
    """A small vocabulary."""
    kinds = {
        "domain": "domains",
        "symptoms": "symptoms",
        "components": "components",
        "contributing": "contributing",
    }
    terms: dict[str, dict[str, Term]] = {kind: {} for kind in KINDS}
    for key, slugs in _FACETS.items():
        for slug in slugs:
            terms[kinds[key]][slug] = Term(kinds[key], slug, {"en": slug.replace("-", " "), "ko": "말"})
    return Vocabulary(terms, dict.fromkeys(KINDS, version))


def document(number: int, *, seed: int = 0, **changes: Any) -> dict[str, Any]:
    """A record's document; the same arguments always give the same one."""
    rng = random.Random(f"{seed}-{number}")

    def some(words: list[str], count: int) -> str:
        return " ".join(rng.choices(words, weights=_COMMONNESS if words is _ENGLISH else None, k=count))

    found: dict[str, Any] = {
        "id": f"T-{number:05d}",
        "org": f"Org {number % 7}",
        "org_slug": f"org-{number % 7}",
        "date": f"20{10 + number % 15:02d}-{1 + number % 12:02d}-{1 + number % 28:02d}",
        "date_kind": "incident",
        "title": {"en": some(_ENGLISH, 6), "ko": some(_KOREAN.split(), 4)},
        "summary": {
            "en": some(_ENGLISH, rng.randint(10, 90)),
            "ko": some(_KOREAN.split(), rng.randint(5, 40)),
        },
        "symptoms_text": {"en": some(_ENGLISH, 12), "ko": some(_KOREAN.split(), 8)},
        **{key: sorted(set(rng.choices(slugs, k=2))) for key, slugs in _FACETS.items()},
        "root_cause": rng.choice(["software-bug", "configuration-error"]),
        "sources": [{"url": f"https://example.org/{seed}/{number}", "kind": "blog"}],
        "phrases": {"en": [some(_ENGLISH, 5)], "ko": [some(_KOREAN.split(), 3)]},
    }
    return found | changes


def new(
    found: dict[str, Any],
    *,
    private: bool = False,
    origin: str = "test",
    words: Vocabulary | None = None,
    **rest: Any,
) -> New:
    """What an importer hands to a store; the small vocabulary, unless another is given."""
    record = read_record(found)
    return New(
        id=record.id,
        aliases=tuple(record.aliases),
        document=found,
        digest=digest(found),
        private=private,
        entry=index_entry(record, words or vocabulary()),
        origin=origin,
        order_date=record.date or "",
        **rest,
    )


def put(store: Store, documents: Iterable[dict[str, Any]], *, private: bool = False) -> None:
    """Stores records with the real vocabulary; private are those that say so, or all."""
    words = load_vocabulary()
    with store.transaction() as writer:
        for found in documents:
            hidden = private or found.get("visibility") == "private"
            writer.put(new(found, private=hidden, words=words))


class _Broken(Exception):
    """What breaks a transaction off."""


def fail_in(store: Store) -> None:
    """A transaction that writes a record and is broken off."""
    with suppress(_Broken), store.transaction() as writer:
        writer.put(new(document(1)))
        raise _Broken


def news(numbers: range, *, private: bool = False, seed: int = 0) -> Iterator[New]:
    """Many of them."""
    return (new(document(number, seed=seed), private=private) for number in numbers)


def vector(*values: float, part: str = "title", lang: str = "en") -> Vector:
    """A vector of a few numbers."""
    return Vector(part, lang, struct.pack(f"<{len(values)}e", *values))
