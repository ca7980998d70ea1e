from __future__ import annotations

import pytest

from pilotage.library.insight.korean import final_consonant, joined, with_particle


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("설정 변경", "설정 변경이"),
        ("인그레스 컨트롤러", "인그레스 컨트롤러가"),
        ("파드 네트워크(CNI)", "파드 네트워크(CNI)가"),
        ("CDN", "CDN이"),
        ("CoreDNS", "CoreDNS가"),
        ("API", "API가"),
        ("HAProxy", "HAProxy가"),
        ("NGINX", "NGINX가"),
        ("etcd", "etcd가"),
        ("Consul", "Consul이"),
        ("Traefik", "Traefik이"),
        ("Skipper", "Skipper가"),
        ("Envoy", "Envoy가"),
        ("Kubelet", "Kubelet이"),
        ("ConfigMap", "ConfigMap이"),
        ("CronJob", "CronJob이"),
        ("Google", "Google이"),
        ("Cloudflare", "Cloudflare가"),
        ("Slack", "Slack이"),
        ("HTTP 502", "HTTP 502가"),
        ("HTTP 503", "HTTP 503이"),
        ("100", "100이"),
        ("”", "”가"),
        ("", "가"),
    ],
)
def test_the_particle_follows_how_a_word_is_read(word, expected):
    assert with_particle(word, "이/가") == expected


@pytest.mark.parametrize(
    ("particle", "after_consonant", "after_vowel"),
    [
        ("은/는", "변경은", "서버는"),
        ("을/를", "변경을", "서버를"),
        ("과/와", "변경과", "서버와"),
        ("으로/로", "변경으로", "서버로"),
    ],
)
def test_every_particle_has_two_forms(particle, after_consonant, after_vowel):
    assert with_particle("변경", particle) == after_consonant
    assert with_particle("서버", particle) == after_vowel


def test_after_rieul_it_is_ro():
    assert with_particle("파일", "으로/로") == "파일로"
    assert with_particle("7", "으로/로") == "7로"


def test_final_consonant_of_letters_and_stray_signs():
    assert final_consonant("L") == "ㄹ"
    assert final_consonant("…") == ""
    assert final_consonant("ping") == "ㅇ"
    assert final_consonant("é") == ""


def test_a_list_of_words():
    assert joined([]) == ""
    assert joined(["설정"]) == "설정"
    assert joined(["설정", "서버"]) == "설정과 서버"
    assert joined(["서버", "인그레스", "설정"]) == "서버, 인그레스와 설정"
