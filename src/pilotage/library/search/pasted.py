"""Pasted text: log lines, stack traces, metric names, whole alerts. What in it informs, what is noise."""

from __future__ import annotations

import re

MOST_PASTED_BYTES = 20_000
"""How much of a query is read, in bytes of UTF-8; the rest is ignored and the answer says so."""

_LONG = 160
_LOOKS = re.compile(
    r"""
      \d{4}[-/]\d{2}[-/]\d{2}[T\ ]\d{2}:\d{2}                  # ISO time; nginx writes it with slashes
    | ^\[?(?:\w{3}\ +)?\w{3}\ +\d{1,2}\ \d{2}:\d{2}:\d{2}      # syslog, httpd
    | \[\d{2}/\w{3}/\d{4}:\d{2}:\d{2}:\d{2}                    # access log, HAProxy
    | \b\d{2}:\d{2}:\d{2}\b | ^\[\s*\d+\.\d+\]               # seconds; the kernel's own clock
    | ^[IWEF]\d{4}\                                            # klog
    | \b(?:level|lvl|msg|ts|caller|err(?:or)?)=
    | ^\W*[{\[]\s*\{?\s*"[\w.@-]+"\s*:                         # JSON
    | ^\s*at\ [\w.$/<>]+\(                                     # a frame of a Java stack
    | ^(?:Exception\ in\ thread|Caused\ by:|Traceback|panic:|goroutine\ \d)
    | ^(?:[a-z][\w$]*\.){2,}[\w$]+(?:Exception|Error)\b        # java.net.SocketTimeoutException
    | ^\[?(?:ERROR|WARN(?:ING)?|FATAL|CRIT(?:ICAL)?|TRIGGERED|RESOLVED|ALARM)\b | ^\[(?:INFO|DEBUG|NOTICE)\]
    | ^\[(?:FIRING|RESOLVED|ALERT)[:\]] | ^\[?\#\d{3,}\b       # alert managers and pagers
    | \[(?:emerg|alert|crit|error|warn)\]\ \d | \[(?:ERROR|WARN(?:ING)?|FATAL)\]
    | \b[\w/-]+\.(?:go|rs|py|java|kt|rb|php|[jt]sx?):\d+\b      # a place in a source
    | "[A-Z]{3,7}\ [^"\s]*\ HTTP/\d                            # a request line
    | \b(?:\d{1,3}\.){3}\d{1,3}:\d+\b | "\w+://                # addresses with port, quoted URLs
    | ^\w[\w.-]*\[\d+\]:                                       # unit[pid]:
    | ^Server\ \S+/\S+\ is\ (?:UP|DOWN)\b                      # HAProxy
    | ^(?:\d+[smhd]){1,3}\s+(?:\(x\d+\ over\ \w+\)\s+)?(?:Warning|Normal)\s
    | ^(?:Warning|Normal)\s{2,}[A-Z]\w+                        # events of Kubernetes
    | \s\d+/\d+\s+[A-Z]\w+\s+\d+\b                             # pods as kubectl lists them
    | rpc\ error:\ code\ = | \bpanicked\ at\b
    | \w\{[^{}]*=[^{}]*\}                                      # a metric with labels
    """,
    re.VERBOSE,
)
_DAYS = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_TOP = "com|net|org|io|dev|app|co|kr|jp|sh|ai|test|example|invalid|corp|lan"
_NOISE = re.compile(
    rf"""
      \b[0-9a-f]{{8}}(?:-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}\b          # UUID
    | \b\d{{4}}-\d{{2}}-\d{{2}}[T ]?\d{{0,2}}:?\d{{0,2}}:?\d{{0,2}}   # timestamp
      (?:[.,]\d+)?(?:Z|[+-]\d{{2}}:?\d{{2}})?
    | \b(?:{_DAYS}\s+)?(?:{_MONTHS})\s+\d{{1,2}}\s+\d{{2}}:\d{{2}}:\d{{2}}
    | \b\d{{2}}/(?:\w{{3}}|\d{{2}})/\d{{4}}[:\s]\d{{2}}:\d{{2}}:\d{{2}}(?:\.\d+)?(?:\s[+-]\d{{4}})?
    | \b\d{{1,2}}:\d{{2}}:\d{{2}}(?:[.,]\d+)?\b                        # clock time
    | \b(?:\d{{1,3}}\.){{3}}\d{{1,3}}(?::\d+)?\b                       # IPv4 with port
    | \b(?:[0-9a-f]{{0,4}}:){{3,7}}[0-9a-f]{{0,4}}\b                   # IPv6
    | \b0x[0-9a-f]+\b                                                  # pointer
    | \b[IWEF]\d{{4}}\b                                                # klog prefix
    | \b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{{7,}}\b                       # hash; linear in its length
    | \b(?=(?:[a-z]*\d){{3}})(?=\d*[a-z])[a-z0-9]{{10,40}}\b           # id of letters and digits
    | \bsha256\b
    | \b(?:level|lvl|msg|ts|caller|logger|severity|alertname|err|info|debug|notice|warn(?:ing)?|normal
      |emerg|crit|firing|triggered|resolved)\b                         # how logs label themselves
    | \[(?:alert|error)\]
    | "?\bMozilla/\d[^"\n]{{0,300}}                                    # a browser
    | \bHTTP/\d(?:\.\d)?\b | \b[a-z][a-z0-9+]{{1,9}}://                # protocols
    | (?<![\w.-])(?:[\w-]{{1,63}}\.){{1,6}}(?:{_TOP})(?::\d+)?(?![\w.-])   # a host
    | (?<![\w.-])(?:com|org|net|io)(?=\.[a-z])                         # a package
    | \([\w$]{{1,80}}\.(?:java|kt|scala):\d+\)                         # source places
    | (?<![\w-])[\w-]{{1,100}}\.(?:go|rs|py|js|ts|cc|cpp|c):\d+(?::\d+)?\b
    | -[a-z0-9]{{8,10}}-[a-z0-9]{{5}}\b                                # pod suffix
    | \b(?:\d+(?:\.\d+)?(?:ms|us|µs|ns|s|m|h|d)){{2,4}}\b              # 3m12s
    | \(x\d+\ over\b                                                   # how often an event came
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NUMBER = re.compile(r"\b\d+(?:\.\d+)?(?:ms|us|µs|ns|s|m|h|d|Mi|Gi|Ki|MB|GB|KB|%)?\b", re.IGNORECASE)
_STATUS = re.compile(
    r"(?<![.\w#*$@/-])(?<!\d:)"
    r"(?:4(?:0\d|1[0-8]|2[1-9]|31|51|99)|5(?:0\d|1[01]|2[0-6]))"
    r"(?![\w/%]|[.:]\d|\s?(?:ms|s|sec|bytes)\b)"
)


def is_pasted(text: str) -> bool:
    """Whether a query is a paste rather than something typed: lines, length, or the look of a log line."""
    stripped = text.strip()
    return "\n" in stripped or len(stripped) > _LONG or bool(_LOOKS.search(stripped))


def without_noise(text: str) -> str:
    """The paste without ids, timestamps, addresses and numbers; HTTP status codes from 400 on are kept."""
    rest = _NOISE.sub(" ", text)
    codes = " ".join(dict.fromkeys(_STATUS.findall(rest)))
    return f"{_NUMBER.sub(' ', rest)} {codes}"


def clip(text: str) -> tuple[str, bool]:
    """The first `MOST_PASTED_BYTES` of a text, and whether anything was cut off."""
    data = text.encode("utf-8", "replace")
    if len(data) <= MOST_PASTED_BYTES:
        return text, False
    return data[:MOST_PASTED_BYTES].decode("utf-8", "ignore"), True
