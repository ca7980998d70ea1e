"""The one tree of errors.

Every error that Pilotage raises on purpose is a `PilotageError`: it carries a stable `code` that scripts
may rest on, a sentence that says what went wrong and where, and a `hint` that says what to do. `cli` maps
the tree to an exit code, `web` to an HTTP status, once each.
"""

from __future__ import annotations

from typing import ClassVar


class PilotageError(Exception):
    """Anything that went wrong in a way that we foresaw.

    Args:
        message: what went wrong and where, one sentence.
        hint: what the reader can do about it, one sentence.
    """

    code: ClassVar[str] = "error"
    summary: ClassVar[str] = "Something that Pilotage foresaw went wrong."

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UserError(PilotageError):
    """What was asked for cannot be done as asked; nothing was changed."""

    code = "user-error"
    summary = "What was asked for cannot be done as asked. Nothing was changed."


class ConfigError(UserError):
    """A setting, a flag or an environment variable is wrong."""

    code = "config-error"
    summary = "A setting, a flag or an environment variable is unknown or has a value that cannot be used."


class MissingExtra(ConfigError):
    """The command needs an optional part of the installation that is not there."""

    code = "missing-extra"
    summary = "The command needs an optional part of Pilotage that is not installed."


class InvalidInput(UserError):
    """A file or a query cannot be read as what it claims to be."""

    code = "invalid-input"
    summary = "A file, a record or a query cannot be read as what it claims to be."


class UnknownTerm(InvalidInput):
    """A slug, a field or an operator that does not exist; the nearest known ones are in the hint."""

    code = "unknown-term"
    summary = "A slug or a field does not exist. The hint names the nearest known ones."


class TooLarge(InvalidInput):
    """What was sent is longer than this door takes; the message names the limit."""

    code = "too-large"
    summary = "What was sent is longer than is taken here. The message names the limit."


class NotFound(UserError):
    """No such record, revision or file."""

    code = "not-found"
    summary = "No record, revision, store or file of that name exists, or you may not see it."


class Conflict(UserError):
    """What was asked for clashes with what is there."""

    code = "conflict"
    summary = "What was asked for clashes with what is there: two records of one id, or an alias in use."


class OutsideError(PilotageError):
    """Something outside of Pilotage failed."""

    code = "outside-error"
    summary = "Something outside of Pilotage failed."


class Unreachable(OutsideError):
    """A server or a file system does not answer; trying again may help."""

    code = "unreachable"
    summary = "A server does not answer. Trying again may help."


class Busy(OutsideError):
    """The server has too much to do at the moment."""

    code = "busy"
    summary = "The server has too much to do at the moment. Trying again in a few seconds helps."


class Refused(OutsideError):
    """The other side answered and said no."""

    code = "refused"
    summary = "The other side answered and refused: a permission, a password, a missing database."


class BadReply(OutsideError):
    """The other side answered with something that cannot be understood."""

    code = "bad-reply"
    summary = "The other side answered with something that cannot be understood."


class ToolMissing(OutsideError):
    """A program that is needed is not on the PATH."""

    code = "tool-missing"
    summary = "A program that is needed is not on the PATH. The hint says which, and how to do without."


class StoreError(PilotageError):
    """The store cannot do its work; what was committed before is safe."""

    code = "store-error"
    summary = "The store cannot do its work. What was committed before is safe, what was under way is undone."


class StoreBusy(StoreError):
    """Another writer holds the store."""

    code = "store-busy"
    summary = "Another writer holds the store. Try again when it has finished."


class StoreFull(StoreError):
    """No room on the device; the transaction was undone."""

    code = "store-full"
    summary = "The device is full. Nothing of the current import was kept; make room and run it again."


class StoreReadOnly(StoreError):
    """The store cannot be written where it lies."""

    code = "store-read-only"
    summary = "The store lies in a file or folder that cannot be written."


class StoreCorrupt(StoreError):
    """The file is not a store or is damaged."""

    code = "store-corrupt"
    summary = "The file is not a Pilotage store, or it is damaged. `pilotage library verify` says more."


class StoreGone(StoreError):
    """The store was there and is not where it was."""

    code = "store-gone"
    summary = "The store is not where it was. Put it back: answers go on as soon as it is there."


class StoreTooNew(StoreError):
    """The store was written by a newer version."""

    code = "store-too-new"
    summary = "The store was written by a newer version of Pilotage. Upgrade, or use another store."


class SafetyStop(PilotageError):
    """Stopped on purpose, because going on could do harm."""

    code = "safety-stop"
    summary = "Stopped on purpose, because going on could do harm."


class DrillError(PilotageError):
    """A drill could not be carried out."""

    code = "drill-error"
    summary = "A drill could not be carried out."


def all_errors() -> list[type[PilotageError]]:
    """Every class of the tree, parents before children: the reference page is made from it."""
    found: list[type[PilotageError]] = []
    queue: list[type[PilotageError]] = [PilotageError]
    while queue:
        error = queue.pop(0)
        found.append(error)
        queue[:0] = error.__subclasses__()
    return found
