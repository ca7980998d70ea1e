from __future__ import annotations

import math

import pytest

from pilotage.library.analysis import tag_token, tokens
from pilotage.library.search.lexicon import load_lexicon
from pilotage.library.search.plan import MOST_WORDS_OF_A_PASTE, Plan, idf, make_plan, plan_tokens
from pilotage.library.search.query import Query, parse_query
from pilotage.library.stores.protocol import Frequencies
from pilotage.library.terms import load_vocabulary


def parse(text: str) -> Query:
    return parse_query(text, load_vocabulary(), load_lexicon(), {})


def plan(text: str, records: int = 100, **held: int) -> Plan:
    """Words are held by one record where nothing else is said; `held` names tokens."""
    query = parse(text)
    counts = {token: held.get(token, 1) for token in plan_tokens(query)}
    return make_plan(query, Frequencies(records, counts), load_lexicon())


def phrases(made: Plan) -> set[tuple[str, ...]]:
    return {phrase for _, group in made.match.groups for phrase in group}


def test_idf_by_hand() -> None:
    assert idf(100, 1) == pytest.approx(math.log(1 + 99.5 / 1.5))
    assert idf(100, 100) > 0
    assert idf(0, 0) == pytest.approx(math.log(2))


def test_words_and_terms_are_asked_for() -> None:
    made = plan("zookeeper quorums")
    assert {("zookeep",), ("quorum",), (tag_token("component", "zookeeper"),)} <= phrases(made)
    assert made.used_terms[:2] == ("zookeeper", "quorums")
    assert made.records == 100


def test_each_weight_is_one_question() -> None:
    made = plan("zookeeper 쿼럼 retry storm cloudflare november 2025")
    weights = [weight for weight, _ in made.match.groups]
    assert weights == sorted(set(weights))
    assert all(len(set(group)) == len(group) for _, group in made.match.groups)


def test_neighbours_stand_side_by_side_in_an_index_too() -> None:
    made = plan("worker_connections are not enough while peerPool opens 인그레스 컨트롤러 reloads")
    assert made.pairs == ("worker connect", "pool open")
    assert plan("HttpProxy IngressClass", records=5).pairs == ("proxi ingressclass",)
    # What no record holds is nobody's neighbour, and a long paste is not looked for word by word.
    assert plan("worker nvrm pool opens", nvrm=0).pairs == ("pool open",)
    assert len(plan("\n".join(f"job{number} task{number}" for number in range(300))).pairs) == 100


def test_the_share_of_words_that_no_record_holds() -> None:
    assert plan("ingress reloaded nvrm xid", nvrm=0, xid=0).unheard == 0.5
    assert plan("ingress reloaded AS32934 xid", as32934=0, xid=0).unheard == pytest.approx(1 / 3)
    assert plan("november 2025").unheard == 0.0


def test_dates_are_tags() -> None:
    assert {(tag_token("year", "2025"),), (tag_token("month", "2025-11"),)} == phrases(plan("november 2025"))


def test_words_that_most_records_hold_are_left_out_when_rarer_ones_are_there() -> None:
    assert ("pod",) not in phrases(plan("pods starved", pod=90))
    assert ("pod",) in phrases(plan("pods", pod=90))
    assert ("pod",) in phrases(plan("pods starved", records=10, pod=9))


def test_a_word_that_no_record_holds_is_corrected() -> None:
    made = plan("zookeper lost", zookep=0)
    assert made.corrections == (("zookeper", "zookeeper"),)
    assert (tag_token("component", "zookeeper"),) in phrases(made)
    (clue,) = [clue for clue in made.clues if clue.text == "zookeper"]
    assert [term.slug for term in clue.concepts] == ["zookeeper"]
    assert clue.known


def test_a_korean_word_is_corrected_when_one_of_its_bigrams_is_foreign() -> None:
    assert plan("주키파", 키파=0).corrections == (("주키파", "주키퍼"),)
    assert plan("주키파").corrections == ()


def test_nothing_is_corrected_in_a_paste() -> None:
    assert plan("level=error zookeper", zookep=0).corrections == ()


def test_of_a_paste_only_what_records_hold_and_is_rare() -> None:
    found = [f"word{chr(97 + a)}{chr(97 + b)}" for a in range(10) for b in range(5)]
    query = parse("level=error " + " ".join(found))
    counts = dict.fromkeys(plan_tokens(query), 2) | {"wordab": 0, "wordac": 1}
    made = make_plan(query, Frequencies(100, counts), load_lexicon())
    assert len([word for word in made.used_terms if word.startswith("word")]) <= MOST_WORDS_OF_A_PASTE
    assert "wordab" not in made.used_terms
    assert made.used_terms[0] == "wordac"


def test_what_a_name_says_is_one_clue() -> None:
    made = plan("load balancer broke")
    assert [clue.text for clue in made.clues] == ["load balancer", "broke"]
    assert made.clues[0].concepts


def test_a_clue_weighs_more_the_fewer_records_hold_it() -> None:
    made = plan("starved broke", starv=30, broke=1)
    assert made.clues[0].weight < made.clues[1].weight


def test_what_no_record_holds_is_unknown() -> None:
    made = plan("frobnicated", frobnic=0)
    assert [clue.known for clue in made.clues] == [False]


def test_a_korean_word_is_known_by_its_pairs() -> None:
    held, foreign = {"껐다": 1}, {"켰는": 0, "는데": 0}
    (whole,) = plan("껐다", **held).clues
    (partly,) = plan("껐다켰는데", **held, **foreign, 다켰=0).clues
    assert (whole.known, partly.known) == (1.0, 0.25)
    assert partly.weight < whole.weight


def test_demands_alone_are_what_is_asked_for() -> None:
    made = plan("title:expired")
    assert made.match.title == (("expir",),)
    assert made.match.groups == ((1.0, (("expir",),)),)
    assert [(clue.text, clue.tokens) for clue in made.clues] == [("expired", ("expir",))]
    assert made.used_terms == ("expired",)
    quoted = plan('"up to"')
    assert quoted.match.groups == ((1.0, (("up", "to"),)),)
    assert quoted.match.require == (("up", "to"),)


def test_a_demand_beside_words_is_no_question_of_its_own() -> None:
    made = plan('"wobbled twice" starved')
    assert made.match.require == (("wobbl", "twice"),)
    assert {("wobbl",), ("twice",), ("starv",)} == phrases(made)


def test_a_term_that_few_bear_is_also_looked_for_by_its_labels() -> None:
    tag = tag_token("component", "zookeeper")
    label = tuple(tokens(load_vocabulary().of("components")["zookeeper"].label["en"]))
    assert label in phrases(plan("zookeeper", **{tag: 1}))
    assert label not in phrases(plan("zookeeper", **{tag: 9}))
