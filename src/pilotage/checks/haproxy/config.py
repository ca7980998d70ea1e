"""A whole HAProxy configuration: its proxies with all defaults applied, and who sends requests to whom.

For whoever finds a configuration elsewhere than in a file (a ConfigMap):

    config = haproxy_config(Text(content, source=…, holder=…, path=("data", "haproxy.cfg"), line=…, column=…))
    reading.configs.append(config)
    reading.problems += readers.haproxy.problems_of(config)

`looks_like_haproxy` says whether a text is one, `template.looks_like_template` whether it still has to be
rendered. Several texts that HAProxy reads together are given together, in their order; `beside` finds maps.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from pilotage.checks.haproxy.maps import Map, map_calls, read_map
from pilotage.checks.haproxy.parts import Section, Settings
from pilotage.checks.haproxy.servers import Server, servers_of
from pilotage.checks.haproxy.statements import PROXIES, SECTIONS, Block, Fault, Parser, Statement
from pilotage.checks.haproxy.words import Word
from pilotage.checks.objects import KubeObject, Place, SourceFile
from pilotage.checks.texts import Text
from pilotage.checks.values import KeyPath
from pilotage.core.regex import regex

Finder = Callable[[str], str | None]
"""Gives the content of a file that a configuration names; None where it is not at hand."""

_TYPICAL = regex(
    r"^[ \t]*(?:bind|server|server-template|timeout|mode|option|balance|default_backend|use_backend|log"
    r"|maxconn|stats|default-server|nameserver|trace|http-request|tcp-request|acl|daemon|nbthread|chroot|peer"
    r"|user)\b",
    re.MULTILINE,
)
_GENERATED = regex(
    r"^\s*#.*\b(?:generated|rendered|managed|written)\b.*\bby\b|^\s*#.*\bdo not (?:edit|modify)\b"
    r"|^\s*#.*\bautomatically generated\b",
    re.IGNORECASE | re.MULTILINE,
)
_COMMENT = regex(r"[ \t]*(?:#|\.|$)")
_EXPRESSION = regex(r"%\[[^\]]*\]+|%[A-Za-z]+|\$\{\w+\}")


def looks_like_haproxy(text: str) -> bool:
    """Whether a text is an HAProxy configuration: it begins with a section and has typical lines."""
    for line in text.split("\n", 400)[:400]:
        if _COMMENT.match(line.rstrip("\r")):
            continue
        words = line.split()
        if not words:
            continue
        named = len(words) > 1
        return (
            words[0] in SECTIONS
            and (named or words[0] in {"global", "defaults", "listen", "traces"})
            and bool(_TYPICAL.search(text))
        )
    return False


class Proxy(Settings):
    """A `frontend`, `backend` or `listen`.

    Args:
        block: the section as it was written.
        base: the `defaults` section that it is built on.
        config: the configuration that it is part of.
    """

    def __init__(self, block: Block, base: Settings | None, config: HaproxyConfig) -> None:
        super().__init__(block, base)
        self.config = config

    @property
    def takes_requests(self) -> bool:
        """Whether it listens: a `frontend` or a `listen`."""
        return self.kind != "backend"

    @property
    def has_servers(self) -> bool:
        """Whether it sends requests on: a `backend` or a `listen`."""
        return self.kind != "frontend"

    @property
    def undecided(self) -> bool:
        """Whether what it does not say may stand in a file that is not here."""
        return self.base is None and self.config.partial

    @cached_property
    def mode(self) -> str:
        """`tcp` or `http`; HAProxy's default is `tcp`."""
        stated = self.setting("mode")
        return stated.word(1) if stated is not None else "tcp"

    @cached_property
    def servers(self) -> tuple[Server, ...]:
        """Its servers, those that start in maintenance left out."""
        return tuple(one for one in servers_of(self) if not one.disabled)

    @cached_property
    def binds(self) -> tuple[Statement, ...]:
        """Where it listens."""
        return tuple(one for one in self.all("bind") if one.args)

    @property
    def has_traffic(self) -> bool:
        """Whether requests can reach it: it listens, or something that listens leads to it."""
        return self.takes_requests or bool(self.config.users_of(self))


class HaproxyConfig:
    """A configuration, of one text or of several that are read together.

    Args:
        texts: the texts in the order in which HAProxy reads them.
        beside: finds files that they name.
    """

    def __init__(self, texts: Iterable[Text], beside: Finder | None = None) -> None:
        self.texts = tuple(texts)
        self.beside = beside
        parser = Parser()
        for text in self.texts:
            parser.read(text)
        self.blocks = parser.blocks
        self.faults: list[tuple[Text, Fault]] = parser.faults
        self.sections: list[Section] = []
        self.defaults: list[Settings] = []
        self.proxies: list[Proxy] = []
        self._build()

    def __repr__(self) -> str:
        return f"<{self.key}>"

    def _build(self) -> None:
        named: dict[str, Settings] = {}
        current: Settings | None = None
        for block in self.blocks:
            base = named.get(block.head.after("from")) if "from" in block.head.words[1:] else None
            if block.kind == "defaults":
                current = Settings(block, base)
                named[block.name] = current
                self.defaults.append(current)
            elif block.kind in PROXIES:
                self.proxies.append(Proxy(block, base or current, self))
            else:
                self.sections.append(Section(block))

    # As a subject

    @property
    def key(self) -> str:
        """Its name in reports."""
        return f"{self.texts[0].label}HAProxy configuration" if self.texts else "HAProxy configuration"

    @property
    def source(self) -> SourceFile | None:
        """The file of its first text."""
        return self.texts[0].commented if self.texts else None

    @property
    def holder(self) -> KubeObject | None:
        """The object that holds it; None where it is a file of its own."""
        return self.texts[0].holder if self.texts else None

    def place(self, path: KeyPath = ()) -> Place:
        """Its first section."""
        if self.blocks:
            head = self.blocks[0].head
            written = " ".join(str(part) for part in path)
            return head.text.place(head.line, head.words[0].column, part=self.key, path=written)
        return self.texts[0].place(1, part=self.key) if self.texts else Place(object=self.key)

    def stable_path(self, path: KeyPath) -> str:
        """The path by its words."""
        return "/".join(str(part) for part in path)

    def lines(self, path: KeyPath) -> set[int]:  # noqa: ARG002 - as every subject has it
        """The line at which it begins."""
        return {self.blocks[0].head.text.source_line(self.blocks[0].head.line)} if self.blocks else set()

    @property
    def sources(self) -> list[SourceFile]:
        """The files in which comments on it stand."""
        return [one.commented for one in self.texts if one.commented is not None]

    # What it holds

    @cached_property
    def partial(self) -> bool:
        """Whether it is only a piece: what it does not say may stand in a file that is not here."""
        return not self.defaults and not self.of("global")

    @cached_property
    def generated(self) -> bool:
        """Whether something seems to write it: a comment says so, or it stands in a ConfigMap."""
        return self.holder is not None or any(_GENERATED.search(one.content) for one in self.texts)

    def of(self, *kinds: str) -> list[Section]:
        """Sections other than proxies and `defaults`, of some kinds."""
        return [one for one in self.sections if one.kind in kinds]

    def named(self, kind: str, name: str) -> Section | None:
        """A section by its name; None where there is none."""
        return next((one for one in self.sections if one.kind == kind and one.name == name), None)

    def global_setting(self, phrase: str) -> Statement | None:
        """The last line of the `global` sections that begins with a phrase; None where there is none."""
        found = [line for one in self.of("global") if (line := one.last(phrase)) is not None]
        return found[-1] if found else None

    @property
    def global_subject(self) -> Section | HaproxyConfig:
        """What a finding about the whole process is about: the `global` section where there is one."""
        return next(iter(self.of("global")), self)

    @cached_property
    def serving(self) -> tuple[Proxy, ...]:
        """Frontends and the like that are not switched off."""
        return tuple(one for one in self.proxies if one.takes_requests and not one.disabled)

    @cached_property
    def upstream(self) -> tuple[Proxy, ...]:
        """Backends and the like that requests can reach and that are not switched off."""
        return tuple(one for one in self.proxies if one.has_servers and not one.disabled and one.has_traffic)

    # Who sends requests to whom

    def users_of(self, backend: Proxy) -> list[Statement]:
        """The lines that lead to a backend."""
        return [*self._leads.get(backend.name, []), *self._anywhere]

    @cached_property
    def leads(self) -> tuple[Lead, ...]:
        """Every line that chooses a backend."""
        return tuple(
            Lead(self, proxy, line) for proxy in self.serving for line in _choices(proxy) if line.args
        )

    @cached_property
    def _leads(self) -> dict[str, list[Statement]]:
        found: dict[str, list[Statement]] = defaultdict(list)
        names = {one.name for one in self.proxies if one.has_servers}
        for lead in self.leads:
            for name in lead.names(names):
                found[name].append(lead.statement)
        return found

    @cached_property
    def _anywhere(self) -> list[Statement]:
        return [lead.statement for lead in self.leads if lead.anywhere]

    def map_at(self, path: str) -> Map | None:
        """A map by the path that the configuration gives; None where it is not at hand."""
        if path not in self._maps:
            content = self.beside(path) if self.beside is not None else None
            self._maps[path] = read_map(path, content) if content is not None else None
        return self._maps[path]

    def read_maps(self) -> None:
        """Reads the maps that choose backends now, and not when they are first asked for."""
        for lead in self.leads:
            for call in lead.calls:
                self.map_at(call.path)

    @cached_property
    def _maps(self) -> dict[str, Map | None]:
        return {}


def _choices(proxy: Proxy) -> Iterator[Statement]:
    yield from proxy.all("use_backend")
    default = proxy.setting("default_backend")
    if default is not None:
        yield default


class Lead:
    """A line that chooses a backend, by its name or by an expression.

    Args:
        config: the configuration.
        proxy: the frontend.
        statement: `use_backend` or `default_backend`.
    """

    def __init__(self, config: HaproxyConfig, proxy: Proxy, statement: Statement) -> None:
        self.config = config
        self.proxy = proxy
        self.statement = statement
        word = statement.words[1]
        self.dynamic = "%" in word or word.open
        self.calls = tuple(map_calls(word)) if self.dynamic else ()

    @cached_property
    def maps(self) -> tuple[Map, ...] | None:
        """The maps that decide alone; None where something else decides too or one is not at hand."""
        word = self.statement.words[1]
        if not self.calls or not word.startswith("%[") or _EXPRESSION.sub("", word):
            return None
        found = [self.config.map_at(call.path) for call in self.calls]
        return None if any(one is None for one in found) else tuple(one for one in found if one is not None)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        word: Word = self.statement.words[1]
        fixed = [re.escape(part) for part in _EXPRESSION.split(word)]
        return re.compile(".*".join(fixed))

    @property
    def anywhere(self) -> bool:
        """Whether it may lead to any backend at all."""
        return self.dynamic and self.maps is None and not _EXPRESSION.sub("", self.statement.words[1])

    def names(self, known: set[str]) -> Iterator[str]:
        """The backends that it may lead to; those that no section bears included, for names and maps."""
        if not self.dynamic:
            yield str(self.statement.words[1])
        elif self.maps is not None:
            yield from {value for one in self.maps for value in one.values}
            yield from {call.default for call in self.calls if call.default}
        elif not self.anywhere:
            yield from (name for name in known if self._pattern.fullmatch(name))


def haproxy_config(*texts: Text, beside: Finder | None = None) -> HaproxyConfig:
    """Reads a configuration; what HAProxy would refuse is in its `faults`.

    Args:
        texts: its texts, in the order in which HAProxy reads them.
        beside: finds files that they name, such as maps.
    """
    return HaproxyConfig(texts, beside)
