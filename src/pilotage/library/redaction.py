"""Taking out what must not be stored: addresses, credentials, a user's own words.

Runs on private material before anything is written. For things of a known form (a key of a known vendor, an
e-mail address, a value behind `password=`) it takes no chances; it leaves version numbers, times and commit
hashes alone. Running it again finds nothing.

Keys of objects stay as they are, but the ids that are keys of `related_reasons` are data and are treated so.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address
from typing import Any

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Redaction:
    """One thing that was taken out.

    Attributes:
        path: where it stood, such as `events.3.text.en`.
        kind: `private-key`, `password`, `token`, `secret`, `email`, `ip` or `word`.
        preview: its first two characters and an ellipsis.
    """

    path: str
    kind: str
    preview: str


@dataclass(frozen=True)
class _Rule:
    """A pattern whose group `x`, or else whose whole match, is taken out if `accepts` agrees."""

    kind: str
    pattern: re.Pattern[str]
    accepts: Callable[[str], bool] = bool
    needs: tuple[str, ...] = ()
    """Without one of these in the text (in small letters) the pattern cannot match; saves much time."""


_MARK = re.compile(r"\[redacted:[a-z-]+\]|\bredacted-[a-z]+(?:-key)?")
_IN_HOST = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://[^\s/?#\[]*)\[redacted:([a-z-]+)\]")
_ID_FIELDS = frozenset({"id", "aliases", "related", "related_reasons", "recurrence_of", "org_slug"})
_FIXED_FIELDS = frozenset({"date", "date_kind", "date_precision", "updated_at", "status", "visibility"})
_FIXED_PARTS = frozenset({"mechanism", "provenance"})
_ROUNDS = 8

_CONSTANT_VALUES = frozenset({"true", "false", "null", "none", "yes", "no"})
_LONG = 20
_LOOSE = r"pass(?:word|wd|phrase|code)|pwd|secret|credentials?|비밀번호|암호|패스워드"
_STRICT = (
    r"(?:api|access|secret|private|client|auth|encryption|signing|account|service)[_ -]?(?:key|token|secret)"
    r"|apikey|token|authorization|토큰|api 키|시크릿 키"
)


def _is_ip(text: str) -> bool:
    bare = text.strip("[]").split("/")[0].split("%")[0]
    if bare == "0.0.0.0":  # noqa: S104 - "any address" is nobody's
        return False
    if ":" not in bare:
        return all(int(part) < 256 for part in bare.split("."))  # noqa: PLR2004 - a byte
    if not re.search(r"\d", bare) and bare.count(":") < 3:  # noqa: PLR2004 - `a::b` is code
        return False
    try:
        ip_address(bare)
    except ValueError:
        return False
    return True


def _looks_random(text: str) -> bool:
    """Whether a value is made of more than letters of one case: words of prose are not."""
    letters = re.sub(r"[^A-Za-z]", "", text)
    mixed = letters[1:] not in {letters[1:].lower(), letters[1:].upper()}
    return bool(re.search(r"\d", text)) or mixed or text.endswith("=")


def _is_value(text: str) -> bool:
    return text.lower() not in _CONSTANT_VALUES


def _is_mail(text: str) -> bool:
    return not text.startswith(("redacted-", "git@"))


_TOKENS = (
    r"(?:AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AROA|ANPA)[A-Z0-9]{16}",
    r"gh[pousr]_[A-Za-z0-9]{20,}",
    r"github_pat_\w{20,}",
    r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|imt)-[\w.-]{16,}",
    r"xox[a-z]-[\w-]{10,}|xapp-\d-[\w-]{10,}",
    r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{16,}",
    r"AIza[\w-]{30,}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,}",
    r"sk-(?:proj|ant|svcacct|admin|or)-[\w-]{20,}|sk-[A-Za-z0-9]{20,}|hf_[A-Za-z0-9]{30,}",
    r"npm_[A-Za-z0-9]{30,}|pypi-[\w-]{40,}|dop_v1_[a-f0-9]{32,}|hv[sb]\.[\w-]{20,}",
    r"SG\.[\w-]{16,}\.[\w-]{16,}|SK[0-9a-f]{32}|\d{8,10}:AA[\w-]{30,}",
    r"eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?",
)
_VENDOR_SIGNS = (
    "akia asia abia acca agpa aida aroa anpa ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- gldt- glrt- glcbt- "
    "glptt- glft- glsoat- glagent- glimt- xox xapp- sk_ rk_ pk_ whsec_ aiza ya29. gocspx- sk- hf_ npm_ pypi- "
    "dop_v1_ hvs. hvb. sg. sk eyj :aa"
)
_TOKEN_NEEDS = tuple(_VENDOR_SIGNS.split())
_LOOSE_NEEDS = ("pass", "pwd", "secret", "credential", "비밀번호", "암호", "패스워드")
_STRICT_NEEDS = ("key", "token", "secret", "authorization", "토큰", "api 키", "시크릿 키")
_BEHIND = r"[\"'`*]*"
_BARE = r"[^\s\"'`,;&<>\[\]]"
_I = re.IGNORECASE


def _rule(
    kind: str,
    pattern: str,
    needs: tuple[str, ...],
    accepts: Callable[[str], bool] = bool,
    flags: int = 0,
) -> _Rule:
    return _Rule(kind, re.compile(pattern, flags), accepts, needs)


def _secret(pattern: str, needs: tuple[str, ...], accepts: Callable[[str], bool] = bool) -> _Rule:
    return _rule("secret", pattern, needs, accepts, _I)


_RULES = (
    _rule(
        "private-key",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:.*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|.*)",
        ("-----begin ",),
        flags=re.DOTALL,
    ),
    _rule("password", r"[A-Za-z][A-Za-z0-9+.-]{0,30}://(?P<x>[^\s/@:]*:[^\s/@]+(?:@[^\s/@]+)*)@", ("://",)),
    _rule("token", r"(?<=hooks\.slack\.com/services/)[\w/]{10,}", ("hooks.slack",), flags=re.ASCII),
    _rule("token", r"(?<![A-Za-z0-9])(?:" + "|".join(_TOKENS) + ")", _TOKEN_NEEDS, flags=re.ASCII),
    _secret(
        r"authorization[\"']?\s*[:=]\s*[\"']?(?:basic|bearer|token|digest)\s+(?P<x>[^\s\"',;]+)",
        ("authorization",),
    ),
    _secret(r"\b(?:bearer|basic)\s+(?P<x>[A-Za-z0-9+/._~-]{12,}=*)", ("bearer", "basic"), _looks_random),
    # The value of a key, in quotes, may hold spaces.
    _secret(
        rf"(?:{_LOOSE}|{_STRICT}){_BEHIND}\s*(?::=|=>|[:=])\s*(?:\"(?P<x>[^\"\n]+)\"|'(?P<y>[^'\n]+)')",
        _LOOSE_NEEDS + _STRICT_NEEDS,
        _is_value,
    ),
    # Of a password, any value.
    _secret(
        rf"(?:{_LOOSE}){_BEHIND}\s*(?::=|=>|[:=：])\s*{_BEHIND}(?P<x>{_BARE}{{3,}})", _LOOSE_NEEDS, _is_value
    ),
    # In a sentence.
    _secret(rf"(?:{_LOOSE})\s+(?:is|was)\s+{_BEHIND}(?P<x>{_BARE}{{6,}})", _LOOSE_NEEDS, _looks_random),
    # Of a token, any value that stands close to it.
    _secret(
        rf"(?:{_STRICT}){_BEHIND}(?:\s*=>?\s*|:=?){_BEHIND}(?P<x>{_BARE}{{3,}})", _STRICT_NEEDS, _is_value
    ),
    # Prose speaks of tokens too, so a value further away must look like one.
    _secret(rf"(?:{_STRICT}){_BEHIND}[:：]\s+{_BEHIND}(?P<x>{_BARE}{{8,}})", _STRICT_NEEDS, _looks_random),
    # A long value without a sign between.
    _secret(
        rf"(?:{_LOOSE}|{_STRICT})\s+(?:is |was |of |value )?(?P<x>[A-Za-z0-9+/_-]{{{_LONG},}}=*)",
        _LOOSE_NEEDS + _STRICT_NEEDS,
        _looks_random,
    ),
    _rule(
        "email", r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]+@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}", ("@",), _is_mail
    ),
    _rule(
        "ip",
        r"(?<![0-9A-Za-z:.])\[?(?:[0-9A-Fa-f]{0,4}:){2,7}(?:(?:\d{1,3}\.){3}\d{1,3}|[0-9A-Fa-f]{1,4}|(?<=::))"
        r"(?:%\w{1,16})?(?:/\d{1,3})?(?:\]|(?![0-9A-Za-z:]))",
        (":",),
        _is_ip,
        re.ASCII,
    ),
    _rule(
        "ip", r"(?<![A-Za-z0-9_.])(?:\d{1,3}\.){3}\d{1,3}(?:/\d{1,2})?(?!\d|\.\d)", (".",), _is_ip, re.ASCII
    ),
)

_PARTICLES = (
    "입니다|이라는|에게서|으로서|으로써|라는|에서|에게|한테|부터|까지|으로|보다|처럼|마다|조차|마저|께서|이나|이며|이고|이다"
    "|님이|님은|님의|팀이|팀은|팀의|측은|측이|님|팀|측|은|는|이|가|을|를|의|에|도|만|과|와|로|나"
)
"""What may follow a Korean word without a space."""


@lru_cache(maxsize=16)
def _word_rules(words: tuple[str, ...]) -> tuple[_Rule, ...]:
    """One rule for a user's words: whole words, any case, NFC or NFD, particles allowed behind."""
    forms = {form for word in words for form in _forms(" ".join(word.split())) if form}
    if not forms:
        return ()
    longest_first = sorted(forms, key=lambda form: (-len(form), form))
    choice = "|".join(re.escape(form).replace(r"\ ", r"\s+") for form in longest_first)
    particles = "|".join(form for particle in _PARTICLES.split("|") for form in sorted(_forms(particle)))
    pattern = rf"(?<![^\W_])(?:{choice})(?!://)(?=(?:{particles})?(?![^\W_]))"
    needs = tuple({form.split()[0].lower() for form in forms})
    return (_rule("word", pattern, needs, flags=_I),)


def _forms(text: str) -> set[str]:
    return {text, unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)}


def redact(document: dict[str, Any], words: Iterable[str] = ()) -> tuple[dict[str, Any], list[Redaction]]:
    """The document without what must not be stored, and what was taken out.

    Args:
        document: a JSON object; it is not changed.
        words: the user's own list: names of customers, hosts, projects.
    """
    found: list[Redaction] = []
    own = _word_rules(tuple(dict.fromkeys(words)))
    clean: dict[str, Any] = _walk(document, (), own, found)
    return clean, found


def _walk(value: Any, path: Path, words: tuple[_Rule, ...], found: list[Redaction]) -> Any:
    if isinstance(value, str):
        return _redact_text(value, path, words, found)
    if isinstance(value, list):
        return [_walk(item, (*path, index), words, found) for index, item in enumerate(value)]
    if isinstance(value, dict):
        keys_too = path == ("related_reasons",)
        return {
            _redact_text(key, path, words, found) if keys_too else key: _walk(
                item, (*path, key), words, found
            )
            for key, item in value.items()
        }
    return value


def _redact_text(text: str, path: Path, words: tuple[_Rule, ...], found: list[Redaction]) -> str:
    """The text after all rules, applied until none finds anything."""
    rules = _RULES if _is_fixed(path) else _RULES + words
    plain = bool(path) and path[0] in _ID_FIELDS
    for _ in range(_ROUNDS):
        before = text
        small = text.lower()
        for rule in rules:
            if not rule.needs or any(part in small for part in rule.needs):
                text = _apply(rule, text, path, found)
        if plain:
            text = re.sub(r"\[redacted:([a-z-]+)\]", r"redacted-\1", text)
        text = _clean_hosts(text)
        if text == before:
            break
    return text


def _clean_hosts(text: str) -> str:
    """No brackets in the host of an address, where they would mean IPv6: `https://redacted-ip:8080/`."""
    while "[redacted:" in text:
        cleaned = _IN_HOST.sub(r"\1redacted-\2", text)
        if cleaned == text:
            break
        text = cleaned
    return text


def _is_fixed(path: Path) -> bool:
    """Fields of fixed forms, in which a user's word can only be chance."""
    if len(path) == 1:
        return path[0] in _FIXED_FIELDS
    return bool(path) and path[0] in _FIXED_PARTS and path[-1] in {"id", "kind", "state", "confidence"}


def _apply(rule: _Rule, text: str, path: Path, found: list[Redaction]) -> str:
    parts = []
    last = 0
    for start, end in _spans(rule, text):
        parts += [text[last:start], f"[redacted:{rule.kind}]"]
        found.append(Redaction(".".join(map(str, path)), rule.kind, text[start : start + 2] + "…"))
        last = end
    return "".join([*parts, text[last:]]) if parts else text


def _spans(rule: _Rule, text: str) -> Iterator[tuple[int, int]]:
    """Where the rule takes something out; never inside of a mark."""
    marks = None
    for match in rule.pattern.finditer(text):
        name = next((name for name, part in match.groupdict().items() if part is not None), None)
        start, end = match.span(name or 0)
        if start == end or not rule.accepts(text[start:end]):
            continue
        if marks is None:
            marks = [mark.span() for mark in _MARK.finditer(text)]
        if not any(left < end and start < right for left, right in marks):
            yield start, end
