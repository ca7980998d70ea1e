from __future__ import annotations

import re
import time

import pytest

from pilotage.library.search.pasted import MOST_PASTED_BYTES, clip, is_pasted, without_noise


@pytest.mark.parametrize(
    "text",
    [
        "two\nlines",
        "x" * 161,
        "2026-01-19T09:12:44Z something broke",
        "2026-01-19 09:12 something broke",
        "Jan 19 09:12:44 host kernel: oom",
        "E0119 09:12:44.120 reflector.go:125] failed",
        "level=error msg=failed",
        '{"level":"error"}',
        "at com.example.Proxy.run(Proxy.java:12) level=x",
        "[ERROR] failed",
        "FATAL: no pg_hba.conf entry",
        "Traceback (most recent call last):",
        "rpc error: code = Unavailable",
        'up{job="api"} == 0',
        "2026/10/02 06:41:17 [alert] 7#7: 16384 worker_connections are not enough",
        '10.4.9.21 - - [02/Oct/2026:06:41:18 +0000] "POST /v1/orders HTTP/1.1" 502 157',
        '"GET /feed HTTP/2" 503 UH 0 19 0',
        "haproxy[2211]: backend be_web has no server available!",
        "Server be_web/slot12 is DOWN, reason: Layer4 timeout",
        "[INFO] 10.244.1.9:41872 - 3111 NXDOMAIN",
        "dial tcp 10.96.0.1:443: connect: connection refused",
        'Get "https://api.corp:6443/healthz": net/http: TLS handshake timeout',
        '{ "level": "warn" }',
        "[12:04:11] Module not found",
        "26/03/11 04:10:55 ERROR Executor: exception in task",
        "[3421.771823] Xid (PCI:0000:17:00): 48",
        "mysqld: [ERROR] unable to lock",
        "tests/test_cart.py:14 assertion failed",
        '[{"alertname": "Watchdog"}]',
        "java.net.SocketTimeoutException: Read timed out",
        "Caused by: io.netty.channel.ConnectTimeoutException",
        'Exception in thread "main" java.lang.OutOfMemoryError',
        "panic: runtime error: index out of range [3] with length 3",
        "goroutine 88 [running]:",
        "thread 'main' panicked at 'boom'",
        "[FIRING:3] KubePodCrashLooping (prod)",
        "[#48213] TRIGGERED: kiam-server unavailable",
        "ALARM: HealthyHostCount",
        "41s   Warning   FailedMount   pod/web-0   no such secret",
        "2m11s (x14 over 3h) Warning BackOff pod/web-0 restarting",
        "Warning  Unhealthy  kubelet  Readiness probe failed",
        "coredns-5d8c7b9f6-2lq8x  0/1  OOMKilled  6  41m",
    ],
)
def test_what_looks_pasted(text: str) -> None:
    assert is_pasted(text)
    assert is_pasted(f"  {text}  ")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "zookeeper lost quorum",
        "cloudflare november 2025",
        "2019-01-18 elastic",
        "error budget",
        "인그레스가 죽어요",
        "component:ingress -x",
        "warning signs before an outage",
        "server be slow",
        '"connection reset" after deploy',
        "http://example.com/report is down",
        "503 from 10.0.0.1",
        "java.net timeout",
        "2026/11 회고",
        "what does {} in the template do",
    ],
)
def test_what_looks_typed(text: str) -> None:
    assert not is_pasted(text)


@pytest.mark.parametrize(
    "noise",
    [
        "123e4567-e89b-12d3-a456-426614174000",
        "2026-01-19T09:12:44.120Z",
        "2026-01-19 09:12:44,120",
        "2026-01-19T09:12:44+09:00",
        "Jan 19 09:12:44",
        "19/Jan/2026:09:12:44 +0000",
        "09:12:44.120",
        "10.32.0.7:8443",
        "2001:db8:0:1:1:1:1:1",
        "0x7ffeefbff5c8",
        "E0119",
        "4bf92f3577b34da6a3ce929d0e0e4736",
        "a1b2c3d4e5",
        "reflector.go:125",
        "12ms",
        "99.95%",
        "1500",
        "512Mi",
        "3m12s",
        "(x14 over 3h)",
        "2026/10/02 06:41:17",
        "[02/Oct/2026:06:41:18.655]",
        "Mon Mar 8 06:02:11",
        "level=warn",
        "HTTP/1.1",
        "https://www.example.com:8443",
        "lb-3.shop.example.com",
        '"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36"',
        "01hf3x9k2m7q4z8w5v",
        "features.rs:71:22",
        "31#31: *412",
    ],
)
def test_noise_is_taken_out_and_words_are_kept(noise: str) -> None:
    assert re.findall(r"\w+", without_noise(f"before {noise} after")) == ["before", "after"]


@pytest.mark.parametrize(
    "word",
    [
        "facade",
        "deadline",
        "ingress",
        "k8s",
        "http2",
        "x509",
        "decade",
        "added",
        "v1beta1",
        "ec2",
        "인그레스",
    ],
)
def test_words_are_no_noise(word: str) -> None:
    assert without_noise(f"before {word} after").split() == ["before", word, "after"]


def test_a_package_loses_its_root_and_a_frame_its_place() -> None:
    frame = "at com.acme.fleet.Pool.open(Pool.java:118)"
    assert re.findall(r"\w+", without_noise(frame)) == ["at", "acme", "fleet", "Pool", "open"]


def test_the_suffix_of_a_pod_is_dropped_and_its_name_kept() -> None:
    assert without_noise("pod web-7d4b9c6f5c-x2x9z failed").split() == ["pod", "web", "failed"]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("returned 503 to 12", "503"),
        ("502 502 504", "502 504"),
        ("in 200 ms", ""),
        ('{"status":503}', "503"),
        ("x509 512Mi 09:12:503", ""),
        ("503: unavailable. 504.", "503 504"),
        ("10.0.0.1:443", ""),
        ("31#31: *412 upstream", ""),
        ("kubelet_node_status.go:403] failed", ""),
        ("took 502 ms, 503ms", ""),
        ('"GET / HTTP/1.1" 502 157', "502"),
        ("0/0/-1/-1/0 503 221", "503"),
        ("port /dev/404", ""),
    ],
)
def test_codes_of_failed_requests_are_kept(text: str, codes: str) -> None:
    kept = [word for word in without_noise(text).split() if word.isdigit()]
    assert " ".join(kept) == codes


@pytest.mark.parametrize("piece", ["1", "a1", "f0", "a-", "1.", "1:", "0:", "a", "-a1b2c3d4e", "2026-01-01 "])
def test_the_cost_grows_with_the_length(piece: str) -> None:
    started = time.monotonic()
    without_noise((piece * MOST_PASTED_BYTES)[:MOST_PASTED_BYTES] + "_z")
    assert time.monotonic() - started < 3


def test_the_beginning_of_a_long_text_is_read() -> None:
    assert clip("short") == ("short", False)
    assert clip("a" * MOST_PASTED_BYTES) == ("a" * MOST_PASTED_BYTES, False)
    text, cut = clip("가" * MOST_PASTED_BYTES)
    assert cut
    assert set(text) == {"가"}
    assert MOST_PASTED_BYTES - 3 < len(text.encode()) <= MOST_PASTED_BYTES
