from __future__ import annotations

import pytest

from pilotage.library.search.elsewhere import is_elsewhere


@pytest.mark.parametrize("word", ["Android", "iPhones", "DebeziumException", "ceph", "쿠폰이", "안드로이드"])
def test_a_name_is_known_whatever_its_form(word: str) -> None:
    assert is_elsewhere(["the", word])


@pytest.mark.parametrize("word", ["ingress", "etcd", "certificate", "인그레스", "인증서가", "502"])
def test_what_the_library_is_about_is_none(word: str) -> None:
    assert not is_elsewhere([word])


def test_no_words_name_nothing() -> None:
    assert not is_elsewhere([])
