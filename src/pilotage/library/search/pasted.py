"""Pasted text: log lines, stack traces, metric names, whole alerts. What in it informs, what is noise."""

from __future__ import annotations

import re

MOST_PASTED_BYTES = 20_000
"""How much of a query is read, in bytes of UTF-8; the rest is ignored and the answer says so."""

_LONG = 160
_NOISE = re.compile(
    r"""
      \b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b          # UUID
    | \b\d{4}-\d{2}-\d{2}[T ]?\d{0,2}:?\d{0,2}:?\d{0,2}(?:[.,]\d+)?(?:Z|[+-]\d{2}:?\d{2})?  # timestamp
    | \b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\s+\d{1,2}\s+\d{2}:\d{2}:\d{2}    # syslog time
    | \b\d{2}/(?:\w{3}|\d{2})/\d{4}[:\s]\d{2}:\d{2}:\d{2}(?:\s[+-]\d{4})?        # access log time
    | \b\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?\b                                        # clock time
    | \b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b                                       # IPv4 with port
    | \b(?:[0-9a-f]{0,4}:){3,7}[0-9a-f]{0,4}\b                                   # IPv6
    | \b0x[0-9a-f]+\b                                                            # pointer
    | \b[IWEF]\d{4}\b                                                            # klog prefix
    | \b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,}\b                                   # hash; linear in its length
    | (?<![\w-])[\w-]{1,100}\.go:\d+\b                                           # Go source place
    | -[a-z0-9]{8,10}-[a-z0-9]{5}\b                                              # pod suffix
    | \b\d+(?:\.\d+)?(?:ms|us|µs|ns|s|m|h|Mi|Gi|Ki|MB|GB|KB|%)?\b                # bare number
    """,
    re.VERBOSE | re.IGNORECASE,
)
_STATUS = re.compile(r"(?<![.\w])(?<!\d:)(?:4(?:[01]\d|2[0-9]|31|51|99)|5[0-2]\d)(?!\w|[.:]\d)")


def is_pasted(text: str) -> bool:
    """Whether a query is a paste rather than something typed: lines, length, or the look of a log line."""
    stripped = text.strip()
    if "\n" in stripped or len(stripped) > _LONG:
        return True
    return bool(
        re.search(
            r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}|^\w{3} +\d{1,2} \d{2}:\d{2}:\d{2}|^[IWEF]\d{4} "
            r"|\blevel=|\bmsg=|\berr(?:or)?=|\{\"|^\s+at [\w.$]+\(|^\[?(?:ERROR|WARN|FATAL)\b|Traceback"
            r"|rpc error: code ="
            r"|\w\{[\w=\"~,. ]+\}",
            stripped,
        )
    )


def without_noise(text: str) -> str:
    """The paste without ids, timestamps, addresses and numbers; HTTP status codes from 400 on are kept."""
    codes = " ".join(dict.fromkeys(_STATUS.findall(text)))
    return f"{_NOISE.sub(' ', text)} {codes}"


def clip(text: str) -> tuple[str, bool]:
    """The first `MOST_PASTED_BYTES` of a text, and whether anything was cut off."""
    data = text.encode("utf-8", "replace")
    if len(data) <= MOST_PASTED_BYTES:
        return text, False
    return data[:MOST_PASTED_BYTES].decode("utf-8", "ignore"), True
