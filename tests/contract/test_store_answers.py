"""What both stores promise of answers: filters, counts, matching, and that private records leave no trace."""

from __future__ import annotations

import pytest

from pilotage.core.errors import StoreError
from pilotage.library.analysis import tokens
from pilotage.library.stores import bm25
from pilotage.library.stores.protocol import COLUMN_WEIGHTS, Filters, Match
from rig.stores import document, new, news, vector

EVERY = Filters(withdrawn=True)
WITHDRAWN = {"status": "withdrawn", "withdrawn_reason": {"en": "wrong"}}
BARE = dict.fromkeys(
    (
        "org",
        "org_slug",
        "summary",
        "symptoms_text",
        "sources",
        "root_cause",
        "domain",
        "symptoms",
        "components",
    ),
    None,
) | {"contributing": None, "phrases": {"en": [], "ko": []}}


def put(store, *items):
    with store.transaction() as writer:
        for item in items:
            writer.put(item)


def bare(number, title, **changes):
    return document(number, **(BARE | {"title": {"en": title}} | changes))


def ask(*words, **rest):
    return Match(((1.0, tuple((token,) for word in words for token in tokens(word))),), **rest)


def ids(hits):
    return [id_ for id_, _ in hits]


def test_filters_are_conjunctions(store):
    put(store, *news(range(40)), new(document(50, **WITHDRAWN)), new(document(51), private=True))
    dns = ("domain", "dns")
    with_dns = {f"T-{n:05d}" for n in range(40) if "dns" in document(n)["domain"]}
    lists = {
        "found": {stored.id for stored in store.iterate(Filters(all_of=(dns,)), "public")},
        "paged": {stored.id for stored in store.page(Filters(all_of=(dns,)), "public", limit=100)},
    }
    assert lists == {"found": with_dns, "paged": with_dns}
    assert store.count(Filters(all_of=(dns,)), "public") == len(with_dns)
    assert store.count(Filters(none_of=(dns,)), "public") == 40 - len(with_dns)
    both = Filters(all_of=(dns, ("organisation", "org-3")), none_of=(("component", "ingress"),))
    assert store.count(both, "public") == len(
        [
            n
            for n in range(40)
            if n % 7 == 3 and "dns" in document(n)["domain"] and "ingress" not in document(n)["components"]
        ]
    )
    assert store.count(Filters(all_of=(("domain", "nowhere"),)), "public") == 0
    assert store.count(Filters(none_of=(("domain", "nowhere"),)), "public") == 40
    assert store.count(Filters(), "public") == 40
    assert store.count(EVERY, "public") == 41
    assert store.count(EVERY, "all") == 42
    assert ids_of(store, Filters(all_of=(("status", "withdrawn"),))) == ["T-00050"]


def ids_of(store, filters, audience="public"):
    return [stored.id for stored in store.iterate(filters, audience)]


def test_a_record_that_is_withdrawn_leaves_the_answers_and_may_come_back(store):
    put(store, *news(range(5)))
    put(store, new(document(2, **WITHDRAWN)))
    title = document(2)["title"]["en"]
    assert "T-00002" not in ids(store.match(ask(title), Filters(), "public", limit=10))
    assert "T-00002" in ids(store.match(ask(title), EVERY, "public", limit=10))
    assert "withdrawn" not in store.facets(Filters(), "public")["status"]
    assert store.facets(EVERY, "public")["status"]["withdrawn"] == 1
    assert "T-00002" not in ids(
        store.sharing(dict.fromkeys(store.tags(["T-00002"], "all")["T-00002"], 1.0), "all", limit=9)
    )
    put(store, new(document(2)))
    assert "T-00002" in ids(store.match(ask(title), Filters(), "public", limit=10))
    assert store.verify() == []


def test_facets_count_records(store):
    put(store, *news(range(60)), new(document(70), private=True), new(document(71, **WITHDRAWN)))
    counted: dict = {}
    for number in range(60):
        for facet, slug in store.tags([f"T-{number:05d}"], "public")[f"T-{number:05d}"]:
            counted.setdefault(facet, {}).setdefault(slug, 0)
            counted[facet][slug] += 1
    assert store.facets(Filters(), "public") == counted
    assert store.facets(Filters(none_of=(("status", "no-such"),)), "public") == counted
    some = [f"T-{number:05d}" for number in range(10)]
    few = store.facets(Filters(), "public", ids=[*some, "T-00070", "nobody"])
    assert sum(few["status"].values()) == 10
    assert sum(store.facets(Filters(), "all", ids=[*some, "T-00070"])["status"].values()) == 11
    filtered = store.facets(Filters(all_of=(("domain", "dns"),)), "public")
    assert filtered["domain"]["dns"] == sum(filtered["status"].values()) == counted["domain"]["dns"]
    # A record that lost its tags is counted no more.
    put(store, *[new(document(n, domain=[])) for n in range(60)])
    assert "domain" not in store.facets(Filters(), "public")


def test_pairs_count_records_that_bear_both(store):
    put(store, *news(range(50)), new(document(70), private=True))
    expected: dict = {}
    for number in range(50):
        found = document(number)
        for one in found["domain"]:
            for two in found["components"]:
                expected[one, two] = expected.get((one, two), 0) + 1
    assert store.pairs("domain", "component", Filters(), "public") == expected
    fewer = store.pairs("domain", "component", Filters(all_of=(("domain", "dns"),)), "public")
    assert all(fewer["dns", two] == expected["dns", two] for one, two in fewer if one == "dns")


def test_sharing_sums_the_weights(store):
    put(store, *news(range(80)))
    weights = {
        ("domain", "dns"): 0.1,
        ("component", "ingress"): 0.7,
        ("symptom", "oom-killed"): 0.2,
        ("x", "y"): 9.0,
    }
    expected = {}
    for number in range(80):
        for tag in store.tags([f"T-{number:05d}"], "public")[f"T-{number:05d}"]:
            expected[f"T-{number:05d}"] = expected.get(f"T-{number:05d}", 0) + weights.get(tag, 0.0)
    best = sorted(
        ((id_, total) for id_, total in expected.items() if total),
        key=lambda hit: (-round(hit[1], 9), hit[0]),
    )
    found = store.sharing(weights, "public", limit=12)
    assert ids(found) == ids(best[:12])
    assert [total for _, total in found] == pytest.approx([total for _, total in best[:12]])
    assert store.sharing({}, "public", limit=5) == []


def test_scores_are_bm25_over_the_columns(store):
    put(store, *news(range(300)))
    phrases = (("leader",), ("elect",), ("leader", "elect"), ("인그",), ("nowher",))
    for query in (
        Match(((1.0, phrases),)),
        Match(((1.0, phrases[:2]), (0.4, phrases[2:]), (0.25, (("leader",), ("haproxi",))))),
    ):
        columns = store.columns(store.ids("public"), "public")
        lengths = sum(bm25.frequencies(each, [])[1] for each in columns.values())
        every = bm25.phrases_of(query)
        holding = {p: sum(p in bm25.frequencies(each, every)[0] for each in columns.values()) for p in every}
        known = bm25.Statistics(len(columns), lengths, holding)
        expected = {id_: bm25.score(each, query, known) for id_, each in columns.items()}
        hits = store.match(query, Filters(), "public", limit=300)
        assert dict(hits) == pytest.approx({id_: score for id_, score in expected.items() if score}, rel=1e-6)
        assert hits == sorted(hits, key=lambda hit: (-hit[1], hit[0]))
        assert store.match(query, Filters(), "public", limit=17) == hits[:17]


def test_equal_scores_are_ordered_by_id_up_to_the_limit(store):
    put(
        store,
        *[new(bare(number, "same words here", id=f"x{number % 10}{number // 10}")) for number in range(60)],
    )
    hits = store.match(ask("words"), Filters(), "public", limit=7)
    assert ids(hits) == sorted(f"x{number % 10}{number // 10}" for number in range(60))[:7]


def test_conditions_bear_on_the_choice_and_not_on_the_score(store):
    put(
        store,
        new(bare(1, "leader election lost")),
        new(bare(2, "election of a leader", summary={"en": "quorum lost"})),
        new(bare(3, "quorum", summary={"en": "leader election"})),
        new(bare(4, "something else altogether")),
    )
    plain = dict(store.match(ask("leader"), Filters(), "public", limit=9))
    assert set(plain) == {"T-00001", "T-00002", "T-00003"}
    for rest, expected in (
        ({"require": (("leader", "elect"),)}, {"T-00001", "T-00003"}),
        ({"require": (("lost",), ("quorum",))}, {"T-00002"}),
        ({"exclude": (("leader", "elect"),)}, {"T-00002"}),
        ({"exclude": (("quorum",), ("altogeth",))}, {"T-00001"}),
        ({"title": (("elect",),)}, {"T-00001", "T-00002"}),
        ({"title": (("leader", "elect"),)}, {"T-00001"}),
        ({"require": (("lost",),), "title": (("lost",),), "exclude": (("quorum",),)}, {"T-00001"}),
        ({"require": (("nowher",),)}, set()),
    ):
        found = dict(store.match(ask("leader", **rest), Filters(), "public", limit=9))
        assert found == {id_: plain[id_] for id_ in expected}, rest


def test_a_phrase_stays_within_its_column(store):
    put(store, new(bare(1, "first leader", symptoms_text={"en": "election second"})))
    assert store.match(Match(((1.0, (("leader", "elect"),)),)), Filters(), "public", limit=5) == []


def test_operators_and_oddities_are_just_words(store):
    put(store, *news(range(20)))
    odd = [
        '"',
        "'",
        'a"b',
        "a' | 'b",
        "*",
        "NEAR",
        "AND",
        "OR",
        "NOT",
        "^",
        "a:b",
        "name",
        "-",
        "(",
        "\\",
        "\\'",
        "\x00",
        "\ud800",
        "",
    ]
    query = Match(
        ((1.0, (*((token,) for token in odd), tuple(odd), ())), (0.5, ())),
        require=(("or",), ()),
        exclude=(('")',), ()),
        title=((":*",),),
    )
    assert store.match(query, Filters(), "public", limit=5) == []
    assert store.frequencies(odd).of == dict.fromkeys(odd, 0)
    assert store.match(Match(()), Filters(), "public", limit=5) == []
    assert store.match(ask("leader"), Filters(), "public", limit=0) == []
    many = Match(((1.0, (*((f"w{number}",) for number in range(1500)), ("leader",))),))
    assert store.match(many, Filters(), "public", limit=5) == store.match(
        ask("leader"), Filters(), "public", limit=5
    )


def test_filters_apply_to_matches(store):
    put(store, *news(range(100)))
    every = ids(store.match(ask("leader ingress"), Filters(), "public", limit=100))
    for filters in (
        Filters(all_of=(("domain", "dns"), ("organisation", "org-2"))),
        Filters(none_of=(("domain", "dns"),)),
        Filters(all_of=(("domain", "nowhere"),)),
    ):
        allowed = set(ids_of(store, filters))
        assert ids(store.match(ask("leader ingress"), filters, "public", limit=100)) == [
            i for i in every if i in allowed
        ]


def test_frequencies_count_public_records(store):
    put(store, *news(range(50)), *news(range(60, 70), private=True))
    columns = store.columns(store.ids("public"), "public").values()
    found = store.frequencies(["leader", "인그", "nowher"])
    assert found.records == 50
    assert found.of == {
        token: sum(any(token in tokens_.split() for tokens_ in each.values()) for each in columns)
        for token in ("leader", "인그", "nowher")
    }
    assert found.of["leader"] > 0


def test_what_was_counted_once_follows_the_data(store):
    put(store, *news(range(20)))
    query = ask("leader ingress")
    before = store.frequencies(["leader"]).of["leader"], store.match(query, Filters(), "public", limit=1)
    assert before == (
        store.frequencies(["leader"]).of["leader"],
        store.match(query, EVERY, "public", limit=1),
    )
    put(store, *[new(bare(number, "leader", id=f"more-{number}")) for number in range(5)])
    assert store.frequencies(["leader"]).of["leader"] == before[0] + 5
    assert store.match(query, Filters(), "public", limit=1)[0][1] != before[1][0][1]


def everything(store):
    """All that the public can ask."""
    query = Match(((1.0, (("leader",), ("secretword",))), (0.5, (("ingress",), ("leader", "elect")))))
    tag = {("domain", "dns"): 1.0, ("component", "secret-thing"): 2.0}
    asked = ["T-00001", "T-00090", "secret-alias"]
    return {
        "version": store.data_version("public"),
        "count": store.count(EVERY, "public"),
        "get": store.get(asked, "public"),
        "ids": store.ids("public"),
        "page": store.page(EVERY, "public", limit=100),
        "iterate": list(store.iterate(EVERY, "public")),
        "revisions": [store.revisions(id_, "public") for id_ in asked],
        "facets": [store.facets(EVERY, "public"), store.facets(EVERY, "public", ids=asked)],
        "filtered": store.facets(Filters(none_of=(("component", "secret-thing"),)), "public"),
        "pairs": store.pairs("domain", "component", EVERY, "public"),
        "tags": store.tags(asked, "public"),
        "sharing": store.sharing(tag, "public", limit=9),
        "match": store.match(query, EVERY, "public", limit=50),
        "columns": store.columns(asked, "public"),
        "frequencies": store.frequencies(["leader", "secretword"]),
        "vectors": list(store.vectors("m", "public")),
    }


def test_private_records_leave_no_trace_for_the_public(store):
    put(store, *news(range(40)))
    before = everything(store)
    secret = document(
        90,
        aliases=["secret-alias"],
        components=["secret-thing"],
        title={"en": "secretword leader secretword"},
    )
    put(store, new(secret, private=True, vectors={"m": [vector(1, 2)]}), *news(range(91, 99), private=True))
    put(store, new(secret | {"date": "2024-01-01"}, private=True))
    store.add_vectors("m", {"T-00090": [vector(1, 2)]})
    assert everything(store) == before
    assert store.data_version("all") > store.data_version("public")
    assert store.get(["secret-alias"], "all")["secret-alias"].private
    assert store.verify() == []


def test_private_records_rank_by_public_statistics(store):
    put(store, *news(range(200)))
    public = store.match(ask("leader election"), Filters(), "public", limit=200)
    put(
        store,
        new(bare(900, "leader election leader election secretword"), private=True),
        *news(range(901, 950), private=True),
    )
    both = store.match(ask("leader election"), Filters(), "all", limit=300)
    assert both[0][0] == "T-00900"
    assert [hit for hit in both if hit[0] < "T-00900"] == public
    assert both == sorted(both, key=lambda hit: (-hit[1], hit[0]))
    assert ids(store.match(ask("secretword"), Filters(), "all", limit=3)) == ["T-00900"]
    assert (
        ids(store.match(ask("leader", exclude=(("secretword",),)), Filters(), "all", limit=300)).count(
            "T-00900"
        )
        == 0
    )
    columns = store.columns(["T-00900"], "all")["T-00900"]
    known = bm25.Statistics(200, sum(map(length, store.columns(store.ids("public"), "public").values())), {})
    rare = dict(store.match(ask("secretword"), Filters(), "all", limit=3))["T-00900"]
    assert rare == pytest.approx(bm25.score(columns, ask("secretword"), known), rel=1e-6)
    with_nothing_public = set(COLUMN_WEIGHTS)
    assert set(columns) == with_nothing_public


def length(columns):
    return bm25.frequencies(columns, [])[1]


def test_a_library_of_private_records_only_is_searched(store):
    put(store, *news(range(10), private=True))
    assert store.match(ask("leader ingress"), Filters(), "public", limit=10) == []
    found = store.match(ask(document(3)["title"]["en"]), Filters(), "all", limit=10)
    assert found
    assert all(score > 0 for _, score in found)


def test_a_transaction_that_failed_takes_nothing_more(store):
    broken = new(document(2))
    broken.entry.columns["name"] = 5

    def carry_on(writer):
        with pytest.raises((StoreError, AttributeError)):
            writer.put(broken)
        writer.put(new(document(3)))

    with pytest.raises(StoreError), store.transaction() as writer:
        carry_on(writer)
    assert store.ids("all") == []
    assert store.verify() == []
