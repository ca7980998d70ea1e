from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pilotage.library.address import canonical_url


@pytest.mark.parametrize(
    "spelling",
    [
        "https://blog.example.com/post",
        "http://blog.example.com/post/",
        "https://www.blog.example.com/post#part",
        "https://BLOG.example.com/post?utm_source=x&fbclid=y",
        "https://web.archive.org/web/20200101000000/https://blog.example.com/post",
        "https://blog.example.com:443/post/index.html",
    ],
)
def test_spellings_of_one_address_are_one(spelling: str) -> None:
    assert canonical_url(spelling) == "https://blog.example.com/post"


def test_a_query_that_names_the_page_stays() -> None:
    assert canonical_url("https://a.example/x?id=2&b=1") == "https://a.example/x?b=1&id=2"


@pytest.mark.parametrize(
    "odd", ["", "not a url", "https://[::1", "mailto:x@example.com", "http://a.example:99999/"]
)
def test_odd_addresses_pass_unharmed(odd: str) -> None:
    assert isinstance(canonical_url(odd), str)


@given(st.text())
def test_the_form_is_stable(text: str) -> None:
    once = canonical_url(text)
    assert canonical_url(once) == once
