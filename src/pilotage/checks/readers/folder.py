"""The files beside a configuration that it may bring in; nothing outside of its folder is read."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path

from pilotage.checks.objects import SourceFile
from pilotage.checks.texts import Text, text_of_file
from pilotage.core.paths import is_folder

_LARGEST = 5_000_000


class Folder:
    """The folder of a main file.

    Args:
        main: the main file.
        known: files that were read before, by their real path; what is read is added.
    """

    def __init__(self, main: SourceFile, known: dict[str, SourceFile]) -> None:
        self.main = main
        self.known = known
        self.folder = Path(main.name).parent
        self.bounds = os.path.realpath(self.folder)

    def find(self, pattern: str) -> Sequence[Text] | None:
        """The texts that a pattern means; None where there is no such file or folder."""
        if not glob.has_magic(pattern):
            text = self._text(self.folder / pattern)
            return None if text is None else [text]
        # As the shell has it, a star stands for no hidden file. The method of `Path` raises where a folder
        # goes away meanwhile.
        names = [] if pattern.startswith("..") else glob.glob(pattern, root_dir=self.folder)  # noqa: PTH207
        found = sorted(self.folder / name for name in names)
        if not found and not is_folder((self.folder / pattern).parent):
            return None
        return [text for path in found if (text := self._text(path)) is not None]

    def _text(self, path: Path) -> Text | None:
        real = os.path.realpath(path)
        if os.path.commonpath((real, self.bounds)) != self.bounds:
            return None
        if real not in self.known:
            try:
                if not path.is_file() or path.stat().st_size > _LARGEST:
                    return None
                content = path.read_bytes().decode("utf-8", "surrogateescape").removeprefix("\ufeff")
            except (OSError, ValueError):
                return None
            self.known[real] = SourceFile(str(path), content, self.main.chart_defaults)
        return text_of_file(self.known[real])
