"""Findings that were there before: a file of fingerprints, stable while unrelated things change."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pilotage.checks.model import Finding
from pilotage.checks.objects import Subject
from pilotage.checks.values import KeyPath
from pilotage.core.errors import InvalidInput, NotFound, UserError
from pilotage.core.paths import read_bytes

VERSION = 1


def fingerprint(check: str, subject: Subject, path: KeyPath, ordinal: int) -> str:
    """What identifies a finding: the check, the object by its name, the part by the names on its way.

    Args:
        check: id of the check.
        subject: the object.
        path: the part.
        ordinal: 0 for the first finding there, 1 for the next.
    """
    parts = (check, subject.key, subject.stable_path(path), str(ordinal) if ordinal else "")
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:20]


class Baseline:
    """How often each fingerprint was there; two files may hold equal objects.

    Args:
        counts: fingerprint -> how often.
    """

    def __init__(self, counts: Counter[str]) -> None:
        self._left = Counter(counts)

    @classmethod
    def of(cls, findings: Iterable[Finding]) -> Baseline:
        """The baseline that some findings make."""
        return cls(Counter(one.fingerprint for one in findings))

    def takes(self, finding: Finding) -> bool:
        """Whether a finding was there before; each entry counts once."""
        if self._left[finding.fingerprint] <= 0:
            return False
        self._left[finding.fingerprint] -= 1
        return True

    @property
    def gone(self) -> int:
        """How many findings of before are no more."""
        return sum(count for count in self._left.values() if count > 0)


def read_baseline(path: Path) -> Baseline:
    """Reads a baseline.

    Raises:
        NotFound: there is no such file.
        InvalidInput: it is none.
    """
    try:
        document = json.loads(read_bytes(path))
        counts = Counter(item["fingerprint"] for item in document["findings"])
    except FileNotFoundError as error:
        raise NotFound(f"{path} does not exist", hint="Write one with --write-baseline.") from error
    except OSError as error:
        raise UserError(
            f"cannot read {path}: {error.strerror}", hint="Name a file that you may read."
        ) from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InvalidInput(f"{path} is no baseline", hint="Write one with --write-baseline.") from error
    if document.get("version") != VERSION:
        raise InvalidInput(
            f"{path} is a baseline of another version",
            hint="Write it again with --write-baseline.",
        )
    return Baseline(counts)


def baseline_text(findings: Iterable[Finding]) -> str:
    """The baseline of some findings: sorted, without lines or files, so that it changes with them only."""
    items: list[dict[str, Any]] = [
        {"check": one.check, "object": one.subject, "path": one.place.path, "fingerprint": one.fingerprint}
        for one in findings
    ]
    items.sort(key=lambda item: (item["check"], item["object"], item["path"], item["fingerprint"]))
    return json.dumps({"version": VERSION, "findings": items}, indent=1, ensure_ascii=False) + "\n"
