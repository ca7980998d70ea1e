from __future__ import annotations

import json
import unicodedata
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pilotage.library.redaction import redact

# Assembled here so that no scanner takes the test for a leak.
SECRETS = {
    "aws": "AKIA" + "ABCDEFGHIJKLMNOP",
    "github": "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "gitlab": "glpat-" + "abcDEF123456ghiJKL78",
    "slack": "xoxb-" + "123456789012-abcdefABCDEF",
    "stripe": "sk_live_" + "a1b2c3d4e5f6g7h8",
    "google": "AIza" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q",
    "openai": "sk-proj-" + "abcDEF123456ghiJKL7890",
    "jwt": "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "email": "kim.min-su+ops@corp.example",
    "ipv4": "10.20.30.40",
    "ipv6": "2001:db8::8a2e:370:7334",
    "pem": "-----BEGIN RSA PRIVATE " + "KEY-----\nMIIEabc\n-----END RSA PRIVATE KEY-----",
    "word": "Globex Project",
}
WORDS = ["Globex Project", "한빛은행", "acme"]


def once(text: str, words=WORDS) -> str:
    return redact({"summary": {"en": text}}, words)[0]["summary"]["en"]


@pytest.mark.parametrize("kind", SECRETS)
def test_each_usual_kind_is_taken_out(kind):
    assert SECRETS[kind] not in once(f"we saw {SECRETS[kind]} in the log")
    assert SECRETS[kind] not in once(f"로그에 {SECRETS[kind]}, 그리고")


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("password=hunter2", "hunter2"),
        ("DB_PASSWORD: 'two words'", "two words"),
        ('{"api_key": "abc def"}', "abc def"),
        ("password is tr0ub4dor", "tr0ub4dor"),
        ("token: abcdef123456", "abcdef123456"),
        ("token=short", "short"),
        ("client_secret => zzz999", "zzz999"),
        ("Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        ("curl -H 'Authorization: Bearer abcdefgh'", "abcdefgh"),
        ("bearer abcDEF123456789", "abcDEF123456789"),
        ("비밀번호: 가나다라", "가나다라"),
        ("https://user:s3cret@db.example/x", "s3cret"),
        ("postgres://:pw@db.example/x", ":pw@"),
        ("secret key 0123456789abcdef0123456789abcdef", "0123456789abcdef0123456789abcdef"),
        ("https://x.example/?access_token=abc123&y=1", "abc123"),
        ("hooks.slack.com/services/T000/B000/XXXXXXXX", "XXXXXXXX"),
        ("한빛은행에서 보낸 요청", "한빛은행"),
        (unicodedata.normalize("NFD", "한빛은행은 느렸다"), unicodedata.normalize("NFD", "한빛은행")),
        ("ACME's proxy", "ACME"),
        ("acme_prod", "acme"),
    ],
)
def test_values_behind_telling_words_and_own_words(text, gone):
    assert gone not in once(text)


@pytest.mark.parametrize(
    "text",
    [
        "HAProxy 2.8.3, Kubernetes v1.12, release v1.2.3.4 and 1.2.3.4.5",
        "from 10:20:30 to 2019-01-18T10:03:00.123456Z (UTC+09:00)",
        "https://github.com/o/r/commit/0123456789abcdef0123456789abcdef01234567",
        "commit hash 0123456789abcdef0123456789abcdef01234567",
        "the token: it expired; tokens: 4096; token = true",
        "sk-telecom-2024-01-01-outage-of-the-whole-network",
        "std::vector and a::b",
        "git@github.com:o/r.git",
        "basic authentication and bearer authentication",
        "acmeology and 한빛은행나무",
        "arn:aws:health:us-east-1::event/EC2/AWS_EC2_OPERATIONAL_ISSUE/AWS_X_1",
        "keyboard: qwerty",
        "open to 0.0.0.0/0",
        "p90 rose from 300 ms to 2 s; 50 % of 18,000",
    ],
)
def test_what_is_no_secret_stays(text):
    assert once(text) == text


def test_ids_addresses_and_dates_stay_usable():
    document = {
        "id": "acme-2020-01-02-x",
        "aliases": ["acme-1"],
        "related_reasons": {"acme-2": {"en": "acme", "ko": None}},
        "date": "2020-01-02",
        "sources": [{"url": "https://status.acme.com/10.0.0.1", "kind": "acme"}],
        "docs": ["http://10.0.0.1:8080/x", "http://[::1]:80/", "https://u:p@h.example/"],
        "provenance": {"title": {"state": "stated"}},
        "count": 3,
    }
    clean, found = redact(document, ["acme", "2020", "stated", "https"])
    assert clean["id"] == "redacted-word-redacted-word-01-02-x"
    assert clean["date"] == "2020-01-02"
    assert list(clean["related_reasons"]) == ["redacted-word-2"]
    assert clean["provenance"] == document["provenance"]
    assert clean["count"] == 3
    for url in [clean["sources"][0]["url"], *clean["docs"]]:
        assert urlsplit(url).hostname
    assert {r.path for r in found} >= {"id", "aliases.0", "sources.0.url", "docs.1"}
    assert all(len(r.preview) == 3 and r.preview.endswith("…") for r in found)
    assert document["id"] == "acme-2020-01-02-x"


def test_only_a_preview_of_the_secret_is_kept():
    _, (found,) = redact({"lessons": {"en": "password=hunter2"}})
    assert (found.path, found.kind, found.preview) == ("lessons.en", "secret", "hu…")


json_text = st.text(st.characters(blacklist_categories=["Cs"]), max_size=40)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | json_text | st.sampled_from(list(SECRETS.values())),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(["id", "title", "events", "docs", "x"]), values, max_size=4))
def test_running_again_finds_nothing(document):
    clean, _ = redact(document, WORDS)
    again, found = redact(clean, WORDS)
    assert again == clean
    assert found == []


@settings(max_examples=150, deadline=None)
@given(
    json_text,
    json_text,
    st.sampled_from(sorted(SECRETS)),
    st.sampled_from([" ", "\n", ", ", '"', "(", "<", "; "]),
    st.sampled_from(["title", "docs", "summary", "unknown", "events"]),
)
def test_no_planted_secret_survives_anywhere(before, after, kind, edge, key):
    secret = SECRETS[kind]
    document = {"id": "a", key: [{"deep": {"x": before + edge + secret + edge + after}}]}
    clean, found = redact(document, WORDS)
    assert secret not in json.dumps(clean, ensure_ascii=False).replace("\\n", "\n")
    assert found
