"""Regular expressions that cost nothing until they are used."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

_METHODS = ("findall", "finditer", "flags", "fullmatch", "match", "pattern", "search", "split", "sub")


class _Lazy:
    """An expression that is compiled when somebody asks for a method, which it then has for itself."""

    def __init__(self, source: str, flags: int = 0) -> None:
        self.source = source
        self.kind = flags

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(name)
        made = re.compile(self.source, self.kind)
        for method in _METHODS:
            setattr(self, method, getattr(made, method))
        return getattr(self, name)


if TYPE_CHECKING:
    regex = re.compile
else:

    def regex(source: str, flags: int = 0) -> re.Pattern[str]:
        """An expression as `re.compile` gives it, compiled on first use.

        A run of the checks needs a few of the two hundred that their modules hold; to compile all of them
        took a sixth of the start of a run.

        Args:
            source: the expression.
            flags: those of `re`.
        """
        return _Lazy(source, flags)
