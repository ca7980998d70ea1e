"""Has users' expressions evaluated in a process of their own, within limits of time and memory."""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from pilotage.core.errors import MissingExtra, OutsideError

WORKER = "pilotage.checks.own.worker"
_LIBRARY = "cel"
_START_SECONDS = 60.0
_LOOK_SECONDS = 0.05


@dataclass(frozen=True)
class Limits:
    """What the evaluation of one check for one object may take, and all evaluations together.

    Attributes:
        seconds: time for one.
        memory_bytes: memory of the process.
        deaths: how often a check may bring the process down or to a halt before it is not asked any more.
        levels: levels of nesting of an object.
        all_seconds: time for all, from the first question on.
    """

    seconds: float = 10.0
    memory_bytes: int = 1 << 30
    deaths: int = 2
    levels: int = 400
    all_seconds: float = float("inf")


@dataclass(frozen=True)
class Question:
    """What is asked of each object.

    Attributes:
        when: whether it is asked at all; empty for always.
        held: pairs of an expression that must be true and one that makes the message when it is not.
        functions: the functions that the expressions call.
    """

    when: str
    held: tuple[tuple[str, str], ...]
    functions: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """What the worker reads."""
        return {"when": self.when, "held": self.held, "functions": self.functions}


@dataclass(frozen=True)
class Asked:
    """An object that a question is asked about.

    Attributes:
        variables: name -> value, plain JSON.
        items: values of the variable `item`; None where there is none.
    """

    variables: Mapping[str, Any]
    items: Sequence[Any] | None = None

    def as_json(self) -> dict[str, Any]:
        """What the worker reads."""
        return {"variables": self.variables, "items": self.items}


class NoAnswer(Exception):
    """A question could not be answered; the text says why."""


def need_library() -> None:
    """Refuses to go on without the library.

    Raises:
        MissingExtra: it is not installed.
    """
    if importlib.util.find_spec(_LIBRARY) is None:
        raise MissingExtra(
            "checks of your own need a CEL library", hint='Install it: pip install "pilotage[cel]".'
        )


class _Process:
    """The worker, and a watch that ends it when an answer takes too long."""

    def __init__(self, limits: Limits) -> None:
        self.late = False
        self._deadline = time.monotonic() + _START_SECONDS
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-P", "-m", WORKER, str(limits.memory_bytes), str(limits.seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._over = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while not self._over.wait(_LOOK_SECONDS):
            if time.monotonic() > self._deadline:
                self.late = True
                self._process.kill()
                return

    def started(self) -> bool:
        return bool(self._read())

    def complaint(self) -> str:
        said = self._process.stderr.read().decode("utf-8", "replace") if self._process.stderr else ""
        return said.strip().rpartition("\n")[2]

    def ask(
        self, values: Sequence[Mapping[str, Any]], seconds: float, end: float
    ) -> Iterator[dict[str, Any]]:
        """The answers, each within the time and all before the end; they stop early when the process does."""
        stream = self._process.stdin
        self._deadline = min(time.monotonic() + seconds, end)
        try:
            if stream is not None:
                stream.write(json.dumps(values).encode() + b"\n")
                stream.flush()
        except OSError:
            return
        for _ in values:
            self._deadline = min(time.monotonic() + seconds, end)
            answer = self._read()
            if not answer:
                return
            yield json.loads(answer)

    def _read(self) -> bytes:
        line = self._process.stdout.readline() if self._process.stdout else b""
        self._deadline = float("inf")
        return line if line.endswith(b"\n") else b""

    def end(self) -> int:
        """Ends it; the code with which it ended by itself, else that of being killed."""
        self._over.set()
        self._process.kill()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        return self._process.wait()


@dataclass
class Evaluator:
    """Asks questions of objects; starts the process when it is first needed.

    Attributes:
        limits: what one answer may take.
    """

    limits: Limits = field(default_factory=Limits)
    _process: _Process | None = field(default=None, init=False)
    _asked: Question | None = field(default=None, init=False)
    _deaths: dict[Question, int] = field(default_factory=dict, init=False)
    _end: float = field(default=float("inf"), init=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.end()
            self._process, self._asked = None, None

    def prove(self, question: Question) -> None:
        """Has the expressions compiled.

        Raises:
            NoAnswer: the library cannot read one.
            OutsideError: the process does not start.
        """
        self._prepare(question)

    def ask(self, question: Question, asked: Sequence[Asked]) -> list[dict[str, Any] | NoAnswer]:
        """The worker's answers: each has `when`, and `held` with a list for the object or for each item.

        Where one could not be answered (it took too long, the process died, the object is nested too deep),
        the reason stands in its place.

        Args:
            question: the expressions.
            asked: what they are about.

        Raises:
            OutsideError: the process does not start.
        """
        answers: list[dict[str, Any] | NoAnswer] = []
        while len(answers) < len(asked):
            barred = self._barred(question, asked[len(answers)])
            if barred is not None:
                answers.append(barred)
                continue
            rest = itertools.takewhile(lambda one: not self._deep(one), asked[len(answers) :])
            answers += self._answered(question, [one.as_json() for one in rest])
        return answers

    def _answered(self, question: Question, asked: list[dict[str, Any]]) -> list[dict[str, Any] | NoAnswer]:
        """The answers up to the first that does not come, and the reason of that one."""
        try:
            process = self._prepare(question)
        except NoAnswer as error:
            return [error]
        answers: list[dict[str, Any] | NoAnswer] = list(process.ask(asked, self.limits.seconds, self._end))
        if len(answers) < len(asked):
            self._deaths[question] = self._deaths.get(question, 0) + 1
            answers.append(NoAnswer(self._obituary(process)))
        return answers

    def _deep(self, asked: Asked) -> bool:
        return any(deeper_than(value, self.limits.levels) for value in asked.variables.values())

    def _barred(self, question: Question, asked: Asked) -> NoAnswer | None:
        if self._deep(asked):
            return NoAnswer(f"the object is nested more than {self.limits.levels} levels deep")
        if self._deaths.get(question, 0) >= self.limits.deaths:
            return NoAnswer(f"not asked any more: it failed {_times(self.limits.deaths)} before")
        if time.monotonic() > self._end:
            return NoAnswer(f"not asked any more: {self._over}")
        return None

    def _prepare(self, question: Question) -> _Process:
        if self._process is None:
            need_library()
            self._process = _Process(self.limits)
            if not self._process.started():
                why = self._process.complaint()
                self.close()
                raise OutsideError(
                    f"the process for your own checks does not start: {why or 'it says nothing'}",
                    hint="Is there enough memory, and can this Python start another one?",
                )
            # How long the process takes to start is no fault of the expressions.
            self._end = min(self._end, time.monotonic() + self.limits.all_seconds)
        if self._asked != question:
            answers = list(self._process.ask([question.as_json()], self.limits.seconds, self._end))
            if not answers:
                raise NoAnswer(self._obituary(self._process))
            if "fault" in answers[0]:
                raise NoAnswer(str(answers[0]["fault"]))
            self._asked = question
        return self._process

    @property
    def _over(self) -> str:
        return f"all expressions together took more than {self.limits.all_seconds:g} s"

    def _obituary(self, process: _Process) -> str:
        late = process.late
        code = process.end()
        self._process, self._asked = None, None
        if late and time.monotonic() > self._end:
            return self._over
        if late:
            return f"the expression took more than {self.limits.seconds:g} s"
        return f"the expression brought its process down (code {code}): too much memory, or too deep"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def deeper_than(value: Any, levels: int) -> bool:
    """Whether a JSON value is nested deeper than this."""
    layer: list[Any] = [value]
    for _ in range(levels):
        layer = [inner for one in layer for inner in _inside(one)]
        if not layer:
            return False
    return True


def _inside(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from (one for one in value.values() if isinstance(one, dict | list))
    elif isinstance(value, list):
        yield from (one for one in value if isinstance(one, dict | list))
