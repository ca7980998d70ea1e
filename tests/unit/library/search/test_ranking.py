from __future__ import annotations

import math
from dataclasses import astuple, fields, replace

import pytest

from pilotage.library.search.lexicon import load_lexicon
from pilotage.library.search.plan import Clue, Plan
from pilotage.library.search.query import Query
from pilotage.library.search.ranking import (
    WORDS_ALONE,
    WORDS_AND_MEANING,
    Evidence,
    Ranking,
    Signals,
    Tuning,
    confidence_of,
    knows,
    rank,
    told_tokens,
)
from pilotage.library.search.semantic import Likeness
from pilotage.library.stores.protocol import Match

QUORUM = Clue("quorum", ("quorum",), (), 3.0, known=True)
LOST = Clue("lost", ("lost",), (), 1.0, known=True)
ALIEN = Clue("alien", ("alien",), (), 4.0, known=False)


def plan(*clues: Clue, records: int = 100) -> Plan:
    return Plan(Match(()), clues, (), (), records)


def ranked(
    *evidence: Evidence, clues: tuple[Clue, ...] = (QUORUM, LOST), records: int = 100, **query: object
) -> Ranking:
    return rank(Query("", **query), plan(*clues, records=records), evidence, WORDS_ALONE)


def evidence(id_: str, lexical: float, *held: str, **rest: object) -> Evidence:
    return Evidence(id_, lexical, None, frozenset(held), **rest)


def test_no_candidates_no_answer() -> None:
    assert ranked() == Ranking((), 0.0, None, ())


def test_the_best_comes_first_and_ties_go_by_id() -> None:
    found = ranked(
        evidence("b", 9, "quorum"), evidence("a", 9, "quorum"), evidence("c", 12, "quorum", "lost")
    )
    assert [place.id for place in found.ranked] == ["c", "a", "b"]
    assert found.ranked[0].matched == (QUORUM, LOST)
    assert found.ranked[0].semantic_share == 0


def test_what_covers_little_of_the_query_is_refused() -> None:
    found = ranked(evidence("a", 2.0, "lost"), clues=(ALIEN, QUORUM, LOST))
    assert found.good == ()
    assert found.confidence < WORDS_ALONE.typed.refuse_below
    assert [place.id for place in found.ranked] == ["a"]


def test_the_tail_is_cut() -> None:
    found = ranked(evidence("a", 30, "quorum", "lost"), evidence("z", 0.1))
    assert [place.id for place in found.good] == ["a"]
    assert len(found.ranked) == 2


def test_a_demand_of_the_query_is_not_guessed_at() -> None:
    found = ranked(evidence("a", 0.1), clues=(ALIEN,), require=(("x",),))
    assert found.confidence == 1.0
    assert [place.id for place in found.good] == ["a"]


LOW = Signals(*[0.0] * len(fields(Signals)))


@pytest.mark.parametrize("signal", ["coverage", "lexical", "known", "named", "titled", "agreeing"])
def test_confidence_grows_with_what_speaks_for_it(signal: str) -> None:
    low = replace(LOW, coverage=0.3, lexical=1.0, known=0.5)
    more = replace(low, **{signal: 1.5})
    assert confidence_of(more, WORDS_ALONE.typed) > confidence_of(low, WORDS_ALONE.typed)


@pytest.mark.parametrize("signal", ["missed", "elsewhere"])
@pytest.mark.parametrize("tuning", [WORDS_ALONE, WORDS_AND_MEANING])
def test_what_speaks_against_it_costs_confidence(tuning: Tuning, signal: str) -> None:
    high = replace(LOW, coverage=1, lexical=2, known=1, cosine=0.5, breadth=0.4)
    for regression in (tuning.typed, tuning.pasted):
        less = replace(high, **{signal: 0.5})
        assert confidence_of(less, regression) < confidence_of(high, regression)


@pytest.mark.parametrize("tuning", [WORDS_ALONE, WORDS_AND_MEANING])
def test_no_evidence_counts_against_its_own_direction(tuning: Tuning) -> None:
    # A fitted slope of the wrong sign would make a better match the less sure one.
    for regression in (tuning.typed, tuning.pasted):
        *in_favour, missed, elsewhere, unheard = astuple(regression.slopes)
        assert min(in_favour) >= 0
        assert missed < 0
        assert elsewhere < 0
        assert unheard <= 0


def test_a_foreign_name_speaks_against_titles_that_lack_it() -> None:
    gpu = Clue("gpu", ("gpu",), (), 3.0, known=True, elsewhere=True)
    held = evidence("a", 9, "quorum", "gpu")
    lacks = ranked(held, clues=(QUORUM, gpu)).signals
    bears = ranked(replace(held, titled=frozenset({"gpu"})), clues=(QUORUM, gpu)).signals
    assert lacks is not None
    assert bears is not None
    assert (lacks.elsewhere, bears.elsewhere) == (0.5, 0.0)


def test_an_organisation_named_for_what_it_makes_is_not_missed() -> None:
    (aws,) = (term for term in load_lexicon().terms_named("aws") if term.kind == "organisations")
    clue = Clue("aws", ("aw",), (aws,), 2.0, known=True)
    speaks = ranked(evidence("a", 9, "quorum", "aw"), clues=(QUORUM, clue)).signals
    silent = ranked(evidence("a", 9, "quorum"), clues=(QUORUM, clue)).signals
    assert speaks is not None
    assert silent is not None
    assert (speaks.missed, silent.missed) == (0.0, 1.0)


def test_a_paste_misses_no_organisation() -> None:
    (aws,) = (term for term in load_lexicon().terms_named("aws") if term.kind == "organisations")
    clue = Clue("aws", ("aw",), (aws,), 2.0, known=True)
    found = ranked(evidence("a", 9, "quorum"), clues=(QUORUM, clue), pasted=True).signals
    assert found is not None
    assert found.missed == 0.0


def test_many_agreeing_parts_say_more_than_a_rare_one() -> None:
    parts = tuple(Clue(word, (word,), (), 1.0, known=True) for word in ("one", "two", "three", "four"))
    rare = Clue("rare", ("rare",), (), 4.0, known=True)
    asked = (*parts, rare)
    many = ranked(evidence("a", 9, "one", "two", "three", "four"), clues=asked)
    single = ranked(evidence("a", 9, "rare"), clues=asked)
    assert many.signals is not None
    assert single.signals is not None
    assert many.signals.coverage == single.signals.coverage == 0.5
    assert many.confidence > single.confidence


def test_a_paste_whose_words_stand_side_by_side_in_a_record_is_surer() -> None:
    clues = (QUORUM, LOST)
    made = replace(plan(*clues), pairs=("quorum lost", "lost again"))
    apart, beside = (
        rank(Query("", pasted=True), made, [evidence("a", 9, "quorum", "lost", *held)], WORDS_ALONE)
        for held in ((), ("quorum lost",))
    )
    assert apart.signals is not None
    assert beside.signals is not None
    assert (apart.signals.adjacent, beside.signals.adjacent) == (0.0, pytest.approx(math.log(2)))
    assert beside.confidence > apart.confidence
    assert told_tokens(Query(""), made) >= {"quorum", "quorum lost", "lost again"}


def test_words_that_no_record_holds_speak_against_a_paste_where_records_are_many() -> None:
    def asked(unheard: float, records: int) -> Ranking:
        made = replace(plan(QUORUM, LOST, records=records), unheard=unheard)
        query = Query("", pasted=True)
        return rank(query, made, [evidence("a", 9, "quorum", "lost")], WORDS_ALONE)

    few = asked(0.5, 10)
    assert few.signals is not None
    assert few.signals.unheard == pytest.approx(0.05)
    assert asked(0.5, 200).confidence < asked(0.0, 200).confidence


def test_what_the_title_tells_of_is_surer() -> None:
    held = evidence("a", 9, "quorum", "lost")
    found = ranked(replace(held, titled=frozenset({"quorum"})))
    assert found.signals is not None
    assert found.signals.titled == 0.75
    assert found.confidence > ranked(held).confidence


def test_pastes_are_judged_by_their_own_regression() -> None:
    typed, pasted = (ranked(evidence("a", 9, "quorum"), pasted=kind) for kind in (False, True))
    assert typed.signals is not None
    assert typed.signals == pasted.signals
    assert typed.confidence == confidence_of(typed.signals, WORDS_ALONE.typed)
    assert pasted.confidence == confidence_of(typed.signals, WORDS_ALONE.pasted)


@pytest.mark.parametrize("tuning", [WORDS_ALONE, WORDS_AND_MEANING])
def test_confidence_is_a_probability_however_large_the_signals(tuning) -> None:
    for size in (0.0, 1.0, 1e9, -1e9):
        for regression in (tuning.typed, tuning.pasted):
            assert 0 <= confidence_of(Signals(*[size] * len(fields(Signals))), regression) <= 1


def test_a_score_of_a_small_library_counts_for_as_much() -> None:
    # The BM25 score of the same record for the same words grows with the library.
    small = ranked(evidence("a", 1.0, "quorum", "lost"), records=3)
    large = ranked(evidence("a", 8.2, "quorum", "lost"), records=100)
    assert small.confidence == pytest.approx(large.confidence, abs=0.01)
    assert ranked(evidence("a", 1e-6, "quorum", "lost"), records=1).good
    same = [ranked(evidence("a", 5.0, "quorum"), records=records).confidence for records in (100, 10_000)]
    assert same[0] == same[1]


def test_what_the_best_candidate_knows_of_is_known() -> None:
    # A term that nobody is tagged with, or that only private records hold.
    unseen = replace(QUORUM, known=False)
    found = ranked(evidence("a", 9, "quorum"), clues=(unseen,))
    assert found.signals is not None
    assert found.signals.known == found.signals.coverage == 1.0


def test_a_clue_is_known_by_its_words_or_its_tag() -> None:
    (term,) = load_lexicon().terms_named("zookeeper")
    clue = Clue("zookeeper", ("zookeep",), (term,), 1.0, known=True)
    assert knows(evidence("a", 1, "zookeep"), clue)
    assert knows(evidence("a", 1, tags=frozenset({("component", "zookeeper")})), clue)
    assert not knows(evidence("a", 1, "other"), clue)
    assert not knows(evidence("a", 1), clue)


def test_more_than_half_of_a_korean_word_is_enough() -> None:
    clue = Clue("주키퍼가", ("주키", "키퍼", "퍼가"), (), 1.0, known=True)
    assert knows(evidence("a", 1, "주키", "키퍼"), clue)
    assert not knows(evidence("a", 1, "주키"), clue)
    half = ranked(evidence("a", 1, "주키"), clues=(clue,)).signals
    assert half is not None
    assert half.coverage == pytest.approx(1 / 3)
    english = Clue("out of memory", ("out", "memori"), (), 1.0, known=True)
    assert not knows(evidence("a", 1, "memori"), english)


def test_the_named_month_outweighs_the_year() -> None:
    march, may = (
        evidence(name, 5.0, f"zqmonth20190{number}", tags=frozenset({("year", "2019")}))
        for name, number in (("march", 3), ("may", 5))
    )
    found = ranked(march, may, clues=(), dates=(("2019", 5),))
    assert [place.id for place in found.ranked] == ["may", "march"]


def test_a_date_alone_is_a_look_up() -> None:
    march = evidence("march", 1e-3, "zqmonth201903", tags=frozenset({("year", "2019")}))
    for dates, shown in (((("2019", 3),), True), ((("2019", None),), True), ((("2019", 4),), False)):
        assert bool(ranked(march, clues=(), dates=dates).good) == shown


def test_the_share_of_meaning_lies_between_nothing_and_all() -> None:
    near = Evidence("a", 0.0, Likeness(0.9, 0.8, "phrase", "en"), frozenset({"quorum"}))
    far = Evidence("b", 9.0, Likeness(-0.5, -0.9, "title", "en"), frozenset({"quorum"}))
    found = rank(Query(""), plan(QUORUM), [near, far], WORDS_AND_MEANING)
    shares = {place.id: place.semantic_share for place in found.ranked}
    assert 0 < shares["a"] <= 1
    assert shares["b"] == 0
    assert {place.id: place.nearest for place in found.ranked} == {"a": "phrase", "b": "title"}
