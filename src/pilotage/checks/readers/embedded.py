"""Configurations inside of ConfigMaps (Corefiles, nginx, HAProxy), read like files of their own."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from pilotage.checks.coredns import parse as corefiles
from pilotage.checks.haproxy.config import haproxy_config, looks_like_haproxy
from pilotage.checks.haproxy.template import HaproxyTemplate, looks_like_template
from pilotage.checks.index import may_share_namespace
from pilotage.checks.nginx import parse as nginx
from pilotage.checks.nginx.includes import follow, matching
from pilotage.checks.nginx.model import NginxConfig
from pilotage.checks.objects import KubeObject
from pilotage.checks.readers.haproxy import problems_of
from pilotage.checks.readers.reading import Problem
from pilotage.checks.texts import Text, text_of_value
from pilotage.checks.values import as_map
from pilotage.core.regex import regex

_COREFILE_KEY = regex(r"(?:^|[./_-])corefile(?:$|[./_-])", re.IGNORECASE)
_NOT_A_COREFILE = regex(r"\.(?:ya?ml|json|sh|md|server|override)$")
_NGINX_KEY = regex(r"nginx|\.conf(?:\.template)?$|^default$")
_CUSTOM = "coredns-custom"
"""The ConfigMap whose keys AKS, RKE2 and others mount where the Corefile imports `custom/*`."""


class Embedded(msgspec.Struct):
    """What was found inside of objects.

    Attributes:
        configs: parsed configurations.
        problems: what could not be read.
    """

    configs: list[Any] = msgspec.field(default_factory=list)
    problems: list[Problem] = msgspec.field(default_factory=list)

    def take(self, config: Any, problems: Iterable[Problem]) -> None:
        """Adds a configuration and its problems; a value that is no asked-for file is never a grave one."""
        self.configs.append(config)
        self.problems += [msgspec.structs.replace(one, grave=False) for one in problems]


def embedded(objects: Iterable[KubeObject]) -> Embedded:
    """The configurations inside of the ConfigMaps among some objects."""
    maps = [one for one in objects if one.kind == "ConfigMap" and not one.group]
    customs = [one for one in maps if one.name == _CUSTOM]
    found = Embedded()
    for one in maps:
        for key, text in _texts(one):
            for read in _READERS:
                if read(one, key, text, customs, found):
                    break
    return found


def may_be_configuration(key: str, text: str) -> bool:
    """Whether one of the readers would look into a value of a ConfigMap."""
    if _NGINX_KEY.search(key) and nginx.looks_like_nginx(text):
        return True
    if _COREFILE_KEY.search(key) or corefiles.looks_like_corefile(text):
        return True
    return looks_like_haproxy(text)


def _texts(one: KubeObject) -> Iterator[tuple[str, str]]:
    for key, text in as_map(one.get("data")).items():
        if isinstance(text, str) and "\n" in text.strip():
            yield str(key), text


def _others(one: KubeObject, key: str) -> dict[str, str]:
    return {name: text for name, text in _texts(one) if name != key}


def _corefile(one: KubeObject, key: str, text: str, customs: Sequence[KubeObject], found: Embedded) -> bool:
    named = _COREFILE_KEY.search(key) is not None
    if _NOT_A_COREFILE.search(key) or not (named or corefiles.looks_like_corefile(text)):
        return False
    beside = [(one, _others(one, key))]
    beside += [(other, dict(_texts(other))) for other in customs if may_share_namespace(other, one)]

    def find(pattern: str) -> Sequence[Text] | None:
        base = posixpath.basename(pattern)
        hits = [
            text_of_value(holder, ("data", name), texts[name])
            for holder, texts in beside
            for name in matching(base, list(texts))
        ]
        return hits or None

    corefile = corefiles.parse(text_of_value(one, ("data", key), text), find)
    if not corefile.blocks and not corefile.problems:
        return False
    found.take(corefile, corefile.problems)
    return True


def _nginx(one: KubeObject, key: str, text: str, _: Sequence[KubeObject], found: Embedded) -> bool:
    if not _NGINX_KEY.search(key) or not nginx.looks_like_nginx(text):
        return False
    config = nginx.parse(text_of_value(one, ("data", key), text))
    others = _others(one, key)

    def find(pattern: str) -> Sequence[Text] | None:
        names = matching(posixpath.basename(pattern), list(others))
        return [text_of_value(one, ("data", name), others[name]) for name in names] or None

    used = follow(config, find)
    found.take(config, config.problems)
    for part in used:
        _drop(found, part)
    return True


def _drop(found: Embedded, part: Text) -> None:
    """Takes out what was read as a configuration of its own and is a part of another one."""
    found.configs = [
        one
        for one in found.configs
        if not (isinstance(one, NginxConfig) and one.text.identity == part.identity)
    ]


def _haproxy(one: KubeObject, key: str, text: str, _: Sequence[KubeObject], found: Embedded) -> bool:
    if not looks_like_haproxy(text):
        return False
    value = text_of_value(one, ("data", key), text)
    if looks_like_template(text):
        found.configs.append(HaproxyTemplate(value))
        return True
    others = _others(one, key)
    config = haproxy_config(value, beside=lambda path: others.get(posixpath.basename(path)))
    found.configs.append(config)
    found.problems += [msgspec.structs.replace(problem, grave=False) for problem in problems_of(config)]
    return True


_Read = Callable[[KubeObject, str, str, Sequence[KubeObject], Embedded], bool]
_READERS: tuple[_Read, ...] = (_corefile, _haproxy, _nginx)
