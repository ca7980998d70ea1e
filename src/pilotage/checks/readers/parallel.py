"""Documents that other processes parse, one for each further core, while this one reads from the beginning.

To make values of YAML takes most of the time of a check. A child of this process has the texts already; it
parses the end of them and hands the values back through a pipe, which costs a tenth of parsing them.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any, BinaryIO

from pilotage.checks.objects import Document

WORTH_IT = 300_000
"""Characters below which one process is as fast."""
_MOST_HELPERS = 3
_CHUNK = 200_000
"""Characters whose values a helper holds at a time."""
_HEAD_START = 1_000_000
"""Characters that a helper parses while this process is busy with something else."""

Parse = Callable[[Document], Any]


class Ahead:
    """Values of documents that helpers have parsed or are about to."""

    def __init__(self) -> None:
        self._shares: dict[tuple[int, int], _Share] = {}
        self._values: dict[tuple[int, int], Any] = {}

    def start(
        self,
        documents: Sequence[Document],
        parse: Parse,
        helpers: int | None = None,
        *,
        whole: bool = False,
        busy: bool = False,
    ) -> None:
        """Gives the end of a list of documents to helpers; does nothing where that is not worth it.

        Args:
            documents: what will be asked for, in that order.
            parse: makes the value of one; must not raise for what is merely wrong.
            helpers: how many; by default one for each further core.
            whole: whether each hands over all in one piece, in which what is common stays so.
            busy: whether this process has something else to do first, so that helpers take more.
        """
        helpers = _helpers() if helpers is None else helpers
        if not helpers or sum(one.end - one.start for one in documents) < WORTH_IT:
            return
        for part in _parts(documents, helpers, _HEAD_START if busy else 0):
            try:
                share = _Share([part] if whole else list(_chunks(part)), parse)
            except OSError:
                # There may be no more processes, or no memory for one: this one does the rest by itself.
                return
            self._shares.update(dict.fromkeys(map(_key, part), share))

    def take(self, document: Document, parse: Parse) -> Any:
        """The value of a document, from a helper or made here."""
        key = _key(document)
        if key in self._shares:
            share = self._shares[key]
            values = share.values()
            for one in share.documents:
                self._shares.pop(_key(one), None)
            self._values.update((_key(one), value) for one, value in values)
        return self._values.pop(key) if key in self._values else parse(document)

    def finish(self) -> None:
        """Takes leave of helpers that nobody asked any more."""
        for share in set(self._shares.values()):
            share.close()
        self._shares.clear()
        self._values.clear()


class _Share:
    """What one helper parses. It writes when all is done, so the pipe keeps it waiting only at the end."""

    def __init__(self, chunks: Sequence[Sequence[Document]], parse: Parse) -> None:
        self.documents = [one for chunk in chunks for one in chunk]
        reading, writing = os.pipe()
        try:
            self._pid = os.fork()
        except OSError:
            os.close(reading)
            os.close(writing)
            raise
        if not self._pid:
            try:
                os.close(reading)
                with os.fdopen(writing, "wb") as out:
                    _work(chunks, parse, out)
            finally:
                # Whatever happened: it must never go on with the work of its parent, who sees a short pipe.
                os._exit(0)
        os.close(writing)
        self._pipe = os.fdopen(reading, "rb")

    def values(self) -> list[tuple[Document, Any]]:
        """Each document with its value; fewer where the helper came to an end."""
        found: list[Any] = []
        try:
            while len(found) < len(self.documents):
                found += pickle.load(self._pipe)  # noqa: S301 - from our own child
        except (EOFError, pickle.UnpicklingError):
            # What is missing is parsed by this process.
            pass
        finally:
            self.close()
        return list(zip(self.documents, found, strict=False))

    def close(self) -> None:
        """Ends the helper; it ends by itself when nobody reads."""
        self._pipe.close()
        os.waitpid(self._pid, 0)


def _work(chunks: Sequence[Sequence[Document]], parse: Parse, out: BinaryIO) -> None:
    pickled = [pickle.dumps([parse(one) for one in chunk], 5) for chunk in chunks]
    out.writelines(pickled)


def _helpers() -> int:
    # A process with several threads is not divided: a lock that another one holds would stay closed forever.
    if sys.platform != "linux" or threading.active_count() > 1:
        return 0
    return min(len(os.sched_getaffinity(0)) - 1, _MOST_HELPERS)


def _key(document: Document) -> tuple[int, int]:
    return id(document.file), document.start


def _parts(documents: Sequence[Document], helpers: int, ahead: int) -> list[Sequence[Document]]:
    """What each helper parses: parts of about equal length, behind what is left to this process.

    Args:
        documents: all, in their order.
        helpers: how many there are.
        ahead: characters that each parses while this process does something else.
    """
    ends = list(accumulate(one.end - one.start for one in documents))
    here = max((ends[-1] - ahead * helpers) // (helpers + 1), 0)
    parts: list[list[Document]] = [[] for _ in range(helpers)]
    for one, end in zip(documents, ends, strict=True):
        if end > here:
            parts[helpers * (end - here - 1) // (ends[-1] - here)].append(one)
    return [part for part in parts if part]


def _chunks(documents: Sequence[Document]) -> Iterator[list[Document]]:
    chunk: list[Document] = []
    size = 0
    for one in documents:
        chunk.append(one)
        size += one.end - one.start
        if size >= _CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
