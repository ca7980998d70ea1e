"""HAProxy configurations and templates of them; files that HAProxy reads together become one."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from pilotage.checks.haproxy.config import HaproxyConfig, haproxy_config, looks_like_haproxy
from pilotage.checks.haproxy.template import HaproxyTemplate, looks_like_template
from pilotage.checks.objects import Place, SourceFile
from pilotage.checks.readers.reading import Problem, Reading, Trouble
from pilotage.checks.texts import Text
from pilotage.core.regex import regex

_NAMED = regex(
    r"haproxy[^/]*\.(?:cfg|conf|j2|jinja2?|tmpl|tpl|ctmpl|erb|template)"
    r"(?:\.(?:j2|jinja2?|tmpl|tpl|ctmpl|erb|template|in|dist|example|sample|orig|bak|new|rpmnew))?",
    re.IGNORECASE,
)
_PLACEHOLDER = regex(r"^[ \t]*(?:global|defaults|frontend|backend|listen)\b", re.MULTILINE)
_NUMBERED = regex(r"\d+[-_.]")
_BAD_BYTES = regex("[\udc80-\udcff]")
_MOST_FAULTS = 20
_BIGGEST_MAP = 4 << 20


class HaproxyReader:
    """Reads `*.cfg` that look like HAProxy, and whatever is called `haproxy`."""

    patterns: Sequence[str] = (
        "*.cfg",
        "*.cfg.*",
        "haproxy*.conf",
        "haproxy*.j2",
        "haproxy*.tmpl",
        "haproxy*.tpl",
        "haproxy*.ctmpl",
        "haproxy*.erb",
        "haproxy*.template",
    )

    def wants(self, name: str, text: str) -> bool:
        """By its look; by its name where that says `haproxy`."""
        if name.lower().endswith((".yaml", ".yml", ".json")):
            return False
        if looks_like_haproxy(text):
            return True
        return bool(_NAMED.fullmatch(Path(name).name)) and bool(_PLACEHOLDER.search(text))

    def read(self, file: SourceFile, into: Reading, *, asked: bool) -> None:
        """Adds a configuration or a template."""
        into.documents += 1
        text = Text(file.text, file)
        bad = _BAD_BYTES.search(file.text)
        if bad is not None:
            line = file.text.count("\n", 0, bad.start()) + 1
            into.problems.append(Problem(Place(file.name, line), "not UTF-8", Trouble.BROKEN, grave=False))
        if looks_like_template(file.text):
            into.configs.append(HaproxyTemplate(text))
            message = "looks like an unrendered template: render it, and check the result"
            into.problems.append(Problem(Place(file.name), message, Trouble.TEMPLATE, asked))
            return
        config = haproxy_config(text)
        into.configs.append(config)
        into.problems += problems_of(config)


def problems_of(config: HaproxyConfig) -> list[Problem]:
    """What could not be read of a configuration."""
    problems = [
        Problem(text.place(fault.line, fault.column), fault.why, Trouble.BROKEN)
        for text, fault in config.faults[:_MOST_FAULTS]
    ]
    more = len(config.faults) - _MOST_FAULTS
    if more > 0:
        text, fault = config.faults[_MOST_FAULTS]
        message = f"{more} more lines that HAProxy would refuse"
        problems.append(Problem(text.place(fault.line, fault.column), message, Trouble.BROKEN))
    return problems


def join_haproxy(reading: Reading) -> None:
    """Makes one configuration of the files that HAProxy reads together, and lets them find their maps.

    Together are the files of a folder `*.d` and the one beside that folder, numbered files (`10-global.cfg`)
    of one folder, and pieces without `global` and `defaults` and the only whole file of their folder. Not for
    texts that somebody sent: they would find files of this machine.
    """
    single = [one for one in reading.configs if isinstance(one, HaproxyConfig) and _is_file(one)]
    for one in single:
        one.beside = _Beside([one.texts[0].name])
    groups = _groups(single)
    joined: dict[int, HaproxyConfig] = {}
    for group in groups:
        texts = [text for one in group for text in one.texts]
        whole = haproxy_config(*texts, beside=_Beside(text.name for text in texts))
        joined.update(dict.fromkeys(map(id, group), whole))
    configs: list[object] = []
    done: set[int] = set()
    for one in reading.configs:
        found = joined.get(id(one))
        if found is None:
            configs.append(one)
        elif id(found) not in done:
            done.add(id(found))
            configs.append(found)
    reading.configs = configs
    for config in configs:
        # At once, while the files are where they were found.
        if isinstance(config, HaproxyConfig):
            config.read_maps()


def _is_file(config: HaproxyConfig) -> bool:
    return config.holder is None and len(config.texts) == 1 and bool(config.texts[0].name)


def _groups(configs: Sequence[HaproxyConfig]) -> list[list[HaproxyConfig]]:
    folders: dict[str, list[HaproxyConfig]] = defaultdict(list)
    for one in configs:
        folders[os.path.dirname(one.texts[0].name)].append(one)  # noqa: PTH120 - a name, perhaps of no file
    groups = []
    for folder, inside in sorted(folders.items()):
        inside.sort(key=lambda one: one.texts[0].name)
        if os.path.basename(folder).endswith(".d"):  # noqa: PTH119 - likewise
            mains = [one for one in folders.get(os.path.dirname(folder), []) if not one.partial]  # noqa: PTH120
            group = [*(mains if len(mains) == 1 else []), *inside]
        else:
            group = _of_folder(inside)
        if len(group) > 1 and not _contradict(group):
            groups.append(group)
    return _disjoint(groups)


def _of_folder(inside: list[HaproxyConfig]) -> list[HaproxyConfig]:
    if all(_NUMBERED.match(Path(one.texts[0].name).name) for one in inside):
        return inside
    whole = [one for one in inside if not one.partial]
    return [*whole, *(one for one in inside if one.partial)] if len(whole) == 1 else []


def _contradict(group: list[HaproxyConfig]) -> bool:
    """Whether they cannot be of one process: a name is taken twice, or two files have a `global`."""
    names = [(proxy.kind, proxy.name) for one in group for proxy in one.proxies]
    return len(names) > len(set(names)) or sum(bool(one.of("global")) for one in group) > 1


def _disjoint(groups: list[list[HaproxyConfig]]) -> list[list[HaproxyConfig]]:
    taken: set[int] = set()
    found = []
    for group in sorted(groups, key=len, reverse=True):
        if not taken & set(map(id, group)):
            taken.update(map(id, group))
            found.append(group)
    return found


class _Beside:
    """Finds a file that a configuration names: at its path from there, or by its name nearby."""

    def __init__(self, names: Iterable[str]) -> None:
        self.folders = list(dict.fromkeys(Path(name).parent for name in names))

    def __call__(self, path: str) -> str | None:
        tail = Path(path)
        for folder in self.folders:
            candidates = [] if tail.is_absolute() else [folder / tail]
            candidates += [folder / tail.parent.name / tail.name, folder / tail.name]
            for candidate in candidates:
                content = _content(candidate)
                if content is not None:
                    return content
        return None


def _content(path: Path) -> str | None:
    try:
        if not path.is_file() or path.stat().st_size > _BIGGEST_MAP:
            return None
        return path.read_text("utf-8", "replace")
    except (OSError, ValueError):
        return None
