"""Programs that end badly, write too much or leave others behind."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from pilotage.clients import process
from pilotage.core.errors import BadReply, Refused, ToolMissing, Unreachable


def python(code: str, **options: object) -> process.Output:
    return process.run([sys.executable, "-S", "-c", code], **options)  # type: ignore[arg-type] - tests name them


def test_what_goes_in_and_comes_out() -> None:
    given = b"x" * 300_000
    code = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read()); sys.stderr.write('e' * 99_999); sys.exit(3)"
    done = python(code, given=given)
    assert (done.code, done.out, done.err) == (3, given, "e" * 99_999)
    assert python("pass", given=given).code == 0
    assert python("import sys; print(repr(sys.stdin.read()))").out == b"''\n"


def test_programs_that_are_not_there_or_may_not_run(tmp_path: Path) -> None:
    with pytest.raises(ToolMissing, match="there is no nothing-like-it on the PATH"):
        process.run(["nothing-like-it"])
    (tmp_path / "plain").write_text("x")
    with pytest.raises(Refused, match="plain cannot be run: Permission denied"):
        process.run([str(tmp_path / "plain")])


def test_one_that_a_signal_ended_says_so() -> None:
    done = python("import os; os.write(2, b'so far\\n'); os.kill(os.getpid(), 9)")
    assert done.code == -9
    assert done.err.startswith("so far\npython")
    assert done.err.endswith("was ended by SIGKILL")


def test_one_that_hangs_is_ended_with_what_it_has_started(tmp_path: Path) -> None:
    # As kustomize starts git: the grandchild holds the pipes and would be waited for.
    mark = tmp_path / "pid"
    script = f"sleep 1000 & echo $! > {mark}; wait"
    with pytest.raises(Unreachable, match="sh did not end within 0.5 s"):
        process.run(["sh", "-c", script], limit_seconds=0.5)
    grandchild = Path(f"/proc/{mark.read_text().strip()}/stat")
    for _ in range(500):
        if not grandchild.exists() or grandchild.read_text().rpartition(")")[2].split()[0] == "Z":
            break
        time.sleep(0.01)
    else:
        raise AssertionError("it still runs")


def test_one_that_writes_without_an_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MOST_BYTES", 2**20)
    with pytest.raises(BadReply, match="yes writes more than 1 MiB"):
        process.run(["yes"])


def test_it_has_no_terminal_to_ask_at() -> None:
    code = "import os\ntry:\n    os.open('/dev/tty', os.O_RDWR)\nexcept OSError: print('none')"
    assert python(code).out == b"none\n"
