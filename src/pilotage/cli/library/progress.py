"""A progress bar on the terminal, and silence elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.filesize import decimal
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)


def _bar(*columns: ProgressColumn | str) -> Progress:
    where = Console(stderr=True)
    # Elsewhere rich would write an empty line, and standard error is for errors.
    return Progress(
        *columns, TimeRemainingColumn(), console=where, transient=True, disable=not where.is_terminal
    )


@contextmanager
def import_bars(total: int | None) -> Iterator[tuple[Callable[[int], None], Callable[[int, int], None]]]:
    """Two bars: one for bytes read, one that shows when records of before get vectors.

    Call the first with each number of bytes, the second with how many records are done and of how many.
    """
    with _bar(TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[said]}")) as bar:
        reading = bar.add_task("importing", total=total, said="")
        meaning = bar.add_task("meaning of earlier records", total=None, said="", visible=False)

        def read(count: int) -> None:
            done = bar.tasks[reading].completed + count
            bar.update(reading, completed=done, said=decimal(int(done)))

        def embedded(done: int, of: int) -> None:
            bar.update(meaning, completed=done, total=of, said=f"{done}/{of}", visible=True)

        yield read, embedded


@contextmanager
def count_bar(title: str, total: int) -> Iterator[Callable[[], None]]:
    """A bar that counts things; call what it gives after each."""
    with _bar(TextColumn(title), BarColumn(), MofNCompleteColumn()) as bar:
        task = bar.add_task(title, total=total)
        yield lambda: bar.advance(task)


@contextmanager
def named_bar(title: str) -> Iterator[Callable[[str, int, int], None]]:
    """A bar that names what was done last; call what it gives with a name, how many are done, of how many."""
    with _bar(TextColumn(title), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[last]}")) as bar:
        task = bar.add_task(title, total=None, last="")

        def step(name: str, done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, last=name)

        yield step


def size_of(paths: list[str]) -> int | None:
    """Bytes of all files and folders together; None when one cannot be told (standard input)."""
    total = 0
    for text in paths:
        path = Path(text)
        try:
            files = [path] if path.is_file() else [part for part in path.rglob("*") if part.is_file()]
            total += sum(part.stat().st_size for part in files)
        except OSError:
            return None
    return total or None
