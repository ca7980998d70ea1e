"""The process in which users' expressions run: `python -m pilotage.checks.own.worker BYTES SECONDS`.

The library that evaluates them can be brought down by what it is given, and an expression may take for ever.
So they run here, where neither harms anybody. It reads lines with lists of JSON and answers each
entry with a line.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

import cel

from pilotage.checks.own.functions import provided

LONGEST_MESSAGE = 2_000
_FAULTS = (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError)


class _Question:
    """The expressions of one check, compiled."""

    def __init__(self, asked: Mapping[str, Any]) -> None:
        functions = provided(cel.OptionalValue)
        self._context = cel.Context(
            functions={name: functions[name] for name in asked["functions"] if name in functions}
        )
        self._when = cel.compile(asked["when"]) if asked["when"] else None
        self._held = [
            (cel.compile(text), cel.compile(message) if message else None) for text, message in asked["held"]
        ]

    def answer(self, variables: Mapping[str, Any], items: Sequence[Any] | None) -> dict[str, Any]:
        """What `when` gives, and each validation for the object or for each of its items."""
        for name, value in variables.items():
            self._context.add_variable(name, value)
        if self._when is not None:
            when = self._run(self._when)
            if when != {"value": True}:
                return {"when": when, "held": []}
        held = [self._all()] if items is None else [self._all_of(item) for item in items]
        return {"when": {"value": True}, "held": held}

    def _all_of(self, item: Any) -> list[dict[str, Any]]:
        self._context.add_variable("item", item)
        return self._all()

    def _all(self) -> list[dict[str, Any]]:
        return [self._hold(*pair) for pair in self._held]

    def _hold(self, program: Any, message: Any) -> dict[str, Any]:
        result = self._run(program)
        if result == {"value": False} and message is not None:
            result["message"] = self._run(message)
        return result

    def _run(self, program: Any) -> dict[str, Any]:
        try:
            value = program.execute(self._context)
        except _FAULTS as error:
            return {"fault": reason_of(error)}
        if isinstance(value, str):
            return {"value": value[:LONGEST_MESSAGE].encode("utf-8", "replace").decode()}
        if isinstance(value, bool):
            return {"value": value}
        return {"fault": f"it gives {_kind(value)}, neither true nor false nor a text"}


def _kind(value: Any) -> str:
    names = {"int": "a number", "float": "a number", "list": "a list", "dict": "a map", "NoneType": "null"}
    return names.get(type(value).__name__, "a value of another kind")


def reason_of(error: Exception) -> str:
    """What went wrong in an expression, in a sentence."""
    text = str(error)
    if isinstance(error, KeyError):
        return f"no such key: {error.args[0]}"
    if isinstance(error, TypeError):
        return text.partition(": the operation")[0].partition(". ")[0]
    marker = "Python function call failed: "
    if marker in text:
        text = text.partition(marker)[2].partition(". Check function arguments")[0].partition(": ")[2]
    return text.partition(". Check")[0].splitlines()[0][:300] if text else type(error).__name__


def _limit() -> None:
    """Bounds the memory of this process, where the system can."""
    limit = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    if limit and sys.platform != "win32":
        import resource  # noqa: PLC0415 - it does not exist everywhere

        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _lend(seconds: float) -> None:
    """Bounds the time of the next answer, so that this process also ends where nobody is left to end it."""
    if seconds and sys.platform != "win32":
        import resource  # noqa: PLC0415 - it does not exist everywhere

        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time() + 2 * seconds) + 10, hard))


def serve(lines: BinaryIO, answers: BinaryIO, seconds: float = 0.0) -> None:
    """Answers until there is nothing more to read."""
    question: _Question | None = None
    for line in lines:
        for asked in json.loads(line):
            _lend(seconds)
            if "held" in asked:
                question, answer = _compiled(asked)
            else:
                answer = _answered(question, asked)
            answers.write(json.dumps(answer).encode() + b"\n")
            answers.flush()


def _compiled(asked: Mapping[str, Any]) -> tuple[_Question | None, dict[str, Any]]:
    try:
        return _Question(asked), {}
    except _FAULTS as error:
        return None, {"fault": reason_of(error)}


def _answered(question: _Question | None, asked: Mapping[str, Any]) -> dict[str, Any]:
    try:
        if question is not None:
            return question.answer(asked["variables"], asked["items"])
    except _FAULTS as error:
        return {"when": {"fault": reason_of(error)}, "held": []}
    return {"when": {"fault": "no question was asked"}, "held": []}


def main() -> None:
    """Takes the standard streams for itself, so that nothing that the library prints comes between."""
    answers = os.fdopen(os.dup(1), "wb")
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    _limit()
    answers.write(b"{}\n")
    answers.flush()
    serve(sys.stdin.buffer, answers, float(sys.argv[2]) if len(sys.argv) > 2 else 0.0)  # noqa: PLR2004


if __name__ == "__main__":
    main()
