"""nginx configuration files and folders of them; what one includes is a part of it, not a file of its own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from pilotage.checks.nginx.includes import follow
from pilotage.checks.nginx.model import NginxConfig
from pilotage.checks.nginx.parse import looks_like_nginx, parse
from pilotage.checks.objects import Place, SourceFile
from pilotage.checks.readers.folder import Folder
from pilotage.checks.readers.reading import Problem, Reading, Trouble
from pilotage.checks.texts import text_of_file

_NAMES = (".conf", ".nginx", ".conf.template")


class NginxReader:
    """Reads `nginx.conf` and other `*.conf` that look like nginx."""

    patterns: Sequence[str] = ("*.conf", "*.nginx", "*.conf.template")

    def wants(self, name: str, text: str) -> bool:
        """By name and look; what has no name that tells (standard input) by its look alone."""
        base = name.lower().rpartition("/")[2]
        if base.endswith(_NAMES) or base.startswith("nginx.conf"):
            return looks_like_nginx(text)
        return "." not in base.lstrip("-") and looks_like_nginx(text) and "apiVersion" not in text

    def read(self, file: SourceFile, into: Reading, *, asked: bool) -> None:
        """Adds the configuration of the file alone."""
        config = parse(text_of_file(file))
        for problem in config.problems:
            grave = problem.grave or (asked and problem.trouble is Trouble.TEMPLATE)
            into.problems.append(Problem(problem.place, problem.message, problem.trouble, grave))
        config.in_image = _is_copied(file.name)
        if config.root.items:
            into.configs.append(config)
        elif asked and not config.problems:
            into.problems.append(
                Problem(Place(file.name), "no nginx directive in this file", Trouble.UNREADABLE)
            )


def _is_copied(name: str) -> bool:
    """Whether a Dockerfile in the folder of a file, or in the one above, names it."""
    path = Path(os.path.abspath(name))  # noqa: PTH100 - links stay as they are named
    for folder in (path.parent, path.parent.parent):
        try:
            if path.name in (folder / "Dockerfile").read_text("utf-8", "replace"):
                return True
        except OSError:
            continue
    return False


def join_includes(into: Reading) -> None:
    """Follows the includes of files on this disk, inside of the folder of each main file."""
    configs = [one for one in into.configs if isinstance(one, NginxConfig) and one.holder is None]
    known = {os.path.realpath(source.name): source for one in configs for source in one.sources[:1]}
    parts: set[str] = set()
    for config in sorted(configs, key=lambda one: not one.complete):
        main = config.source
        if main is None or os.path.realpath(main.name) in parts:
            continue
        before = len(config.problems)
        follow(config, Folder(main, known).find)
        told = {(problem.place, problem.message) for problem in into.problems}
        into.problems += [one for one in config.problems[before:] if (one.place, one.message) not in told]
        parts |= {os.path.realpath(one.name) for one in config.sources[1:]}
    into.configs = [
        one for one in into.configs if not (isinstance(one, NginxConfig) and _is_part(one, parts))
    ]


def _is_part(config: NginxConfig, parts: set[str]) -> bool:
    source = config.source
    return config.holder is None and source is not None and os.path.realpath(source.name) in parts
