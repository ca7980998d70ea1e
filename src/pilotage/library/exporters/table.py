"""The list of exporters, and writing to a file without ever leaving half of one."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path

from pilotage.core.errors import StoreFull, UnknownTerm, UserError
from pilotage.core.text import did_you_mean
from pilotage.library.exporters.bundle import Bundle
from pilotage.library.exporters.flat import Csv
from pilotage.library.exporters.incident_json import IncidentJson, JsonLines
from pilotage.library.exporters.model import Exporter
from pilotage.library.exporters.sqlite_file import SqliteFile
from pilotage.library.stores.protocol import Stored

EXPORTERS: tuple[Exporter, ...] = (IncidentJson(), JsonLines(), Csv(), SqliteFile(), Bundle())
"""Everything that `export --format` takes."""

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_OTHER_NAMES = {"json": "incident-json", "db": "sqlite", "ndjson": "jsonl"}


def exporter_named(name: str) -> Exporter:
    """The exporter of a name.

    Raises:
        UnknownTerm: there is none; the hint names the nearest ones.
    """
    wanted = _OTHER_NAMES.get(name, name)
    for exporter in EXPORTERS:
        if exporter.name == wanted:
            return exporter
    names = [exporter.name for exporter in EXPORTERS]
    raise UnknownTerm(
        f"'{name}' is no export format", hint=did_you_mean(name, names) or f"Formats: {', '.join(names)}."
    )


def _mode(path: Path) -> int:
    """The permissions of the file that is replaced, or those that a new file has here."""
    with contextlib.suppress(OSError):
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _is_special(path: Path) -> bool:
    """Whether a pipe, a device or a socket lies there."""
    try:
        kind = stat.S_IFMT(path.stat().st_mode)
    except OSError:
        return False
    return kind not in {stat.S_IFREG, stat.S_IFDIR}


def write_file(exporter: Exporter, records: Iterable[Stored], path: Path) -> int:
    """Writes an export to a file: whole, or not at all. A link stays, and so does a pipe or device.

    Raises:
        UserError: the folder is not there or cannot be written, or the name is that of a folder.
        StoreFull: the device is full; an older file of that name is left as it was.
    """
    if _is_special(path):
        return _write_into(exporter, records, path)
    path = Path(os.path.realpath(path))
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    except OSError as error:
        raise UserError(
            f"cannot write {path}: {error.strerror}", hint="Name a folder that exists and is yours."
        ) from error
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as out:
            count = exporter.write(records, out)
            out.flush()
            os.fsync(out.fileno())
        part.chmod(_mode(path))
        part.replace(path)
    except OSError as error:
        raise _refused(path, error) from error
    finally:
        part.unlink(missing_ok=True)
    return count


def _write_into(exporter: Exporter, records: Iterable[Stored], path: Path) -> int:
    """Writes to what must not be replaced by a file: `/dev/stdout`, `/dev/null`, a named pipe."""
    try:
        with path.open("wb") as out:
            return exporter.write(records, out)
    except OSError as error:
        raise _refused(path, error) from error


def _refused(path: Path, error: OSError) -> StoreFull | UserError:
    what = f"cannot write {path}: {error.strerror}"
    if error.errno in _NO_ROOM:
        return StoreFull(what, hint="Make room and export again.")
    return UserError(what, hint="Name a file that may be written.")
