"""Zips and folders with files of any of the other formats."""

from __future__ import annotations

import re
import stat
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from pilotage.clients.db.scratch import Scratch
from pilotage.core.errors import InvalidInput, StoreFull
from pilotage.library.exporters.bundle import companions
from pilotage.library.importers.files import ZIP_ERRORS, open_path, open_stream, walk
from pilotage.library.importers.model import Candidate, Importer, OnSkip, Progress, Source
from pilotage.library.importers.sniff import choose

MAX_MEMBERS = 200_000
"""Files in a zip."""
MAX_TOTAL_BYTES = 4 * 1024**3
"""Bytes of all unpacked files of a zip together."""
MAX_RATIO = 200
"""How much smaller a file of more than 1 MiB may be when packed. Text of incident reports reaches 30."""
_SMALL = 1024 * 1024
_ENCRYPTED = 0x1
_SPOOL_IN_MEMORY = 16 * 1024 * 1024
_DRIVE = re.compile(r"[A-Za-z]:")
_UNSAFE = "Do not unpack this archive by hand; ask its maker for another."


def _nothing(_place: str, _why: str) -> None:
    return


def distinct(candidates: Iterator[Candidate]) -> Iterator[Candidate]:
    """Refuse an id that comes twice in one file, of whatever length.

    Raises:
        InvalidInput: an id came before.
    """
    with Scratch() as seen:
        for candidate in candidates:
            if seen.note(str(candidate.document["id"])) is not None:
                raise InvalidInput(
                    f"{candidate.place}: the id '{candidate.document['id']}' stands twice in this file",
                    hint="Keep one of the two, or give the other its own id.",
                )
            yield candidate


class Archive:
    """A zip, or a folder through `read_folder`.

    Args:
        importers: the formats that its files may have.
        on_skip: told of each file of no known format.
    """

    name = "archive"
    title = "Zip or folder with files of any of these formats"

    def __init__(self, importers: tuple[Importer, ...], on_skip: OnSkip | None = None) -> None:
        self._importers = importers
        self._on_skip = on_skip or _nothing

    def detects(self, name: str, head: bytes) -> bool:  # noqa: ARG002 - the content decides
        """Whether the file begins as a zip does."""
        return head.startswith((b"PK\x03\x04", b"PK\x05\x06"))

    def read(self, source: Source) -> Iterator[Candidate]:
        """The candidates of all files of a zip, each detected by itself.

        Raises:
            InvalidInput: the zip is damaged, encrypted or unsafe, or holds nothing that can be read.
            StoreFull: there is no room for a temporary copy of it.
        """
        with tempfile.SpooledTemporaryFile(_SPOOL_IN_MEMORY) as copy:
            try:
                while part := source.stream.read(_SMALL):
                    copy.write(part)
                copy.seek(0)
            except OSError as error:
                raise StoreFull(
                    f"{source.name}: no temporary copy could be made of it: {error.strerror or error}",
                    hint="Make room for temporary files, or name another folder with TMPDIR.",
                ) from error
            yield from self._read_zip(source.name, cast("BinaryIO", copy))

    def _read_zip(self, name: str, file: BinaryIO) -> Iterator[Candidate]:
        try:
            archive = zipfile.ZipFile(file)
        except ZIP_ERRORS as error:
            raise _damaged(name, error) from error
        with archive:
            members = [info for info in archive.infolist() if not info.is_dir()]
            _check_members(name, members)
            beside = companions(info.filename for info in members)
            found = False
            for info in members:
                place = f"{name}!{info.filename}"
                hidden = any(part.startswith((".", "__MACOSX")) for part in info.filename.split("/"))
                if hidden or info.filename in beside:
                    continue
                try:
                    member = archive.open(info)
                except ZIP_ERRORS as error:
                    raise _damaged(place, error) from error
                with member:
                    for candidate in self._read_member(open_stream(place, cast("BinaryIO", member))):
                        found = True
                        yield candidate
            self._refuse_nothing(name, found)

    def read_folder(self, folder: Path, progress: Progress | None = None) -> Iterator[Candidate]:
        """The candidates of all files under a folder, each detected by itself.

        Raises:
            InvalidInput: a file is broken or may not be read, or nothing in the folder can be read.
        """
        found = False
        beside = _companions_in(folder)
        for path in walk(folder, self._on_skip):
            if path in beside:
                continue
            with open_path(path) as file:
                for candidate in self._read_member(open_stream(str(path), file, progress)):
                    found = True
                    yield candidate
        self._refuse_nothing(str(folder), found)

    def _read_member(self, source: Source) -> Iterator[Candidate]:
        importer = choose(source.name, source.head, self._importers)
        if importer is not None:
            yield from distinct(importer.read(source))
        elif source.blank:
            self._on_skip(source.name, "the file is empty")
        elif self.detects(source.name, source.head):
            self._on_skip(source.name, "an archive within; import it by itself")
        else:
            self._on_skip(source.name, "no known format")

    def _refuse_nothing(self, name: str, found: bool) -> None:
        if not found:
            names = ", ".join(importer.name for importer in self._importers)
            raise InvalidInput(f"{name}: no incident in it could be read", hint=f"Known formats: {names}.")


def _companions_in(folder: Path) -> frozenset[Path]:
    names = [path.relative_to(folder).as_posix() for path in (*folder.glob("*.*"), *folder.glob("*/*.yaml"))]
    return frozenset(folder / name for name in companions(names))


def _damaged(name: str, error: Exception) -> InvalidInput:
    return InvalidInput(
        f"{name}: not a whole zip: {error}", hint="The file is damaged or cut off; fetch it again."
    )


def _check_members(name: str, members: list[zipfile.ZipInfo]) -> None:
    """Look at the whole table of contents before anything is unpacked."""
    if len(members) > MAX_MEMBERS:
        raise InvalidInput(f"{name}: {len(members)} files, more than {MAX_MEMBERS}", hint="Split it.")
    for info in members:
        place = f"{name}!{info.filename}"
        parts = re.split(r"[/\\]", info.filename)
        if ".." in parts or not parts[0] or _DRIVE.match(info.filename):
            raise InvalidInput(f"{place}: the name leads out of the archive", hint=_UNSAFE)
        if stat.S_ISLNK(info.external_attr >> 16):
            raise InvalidInput(f"{place}: a link", hint="Pack the file itself.")
        if info.flag_bits & _ENCRYPTED:
            raise InvalidInput(
                f"{place}: encrypted", hint="Unpack it with its password and import the folder."
            )
        if info.file_size > _SMALL and info.file_size > MAX_RATIO * max(info.compress_size, 1):
            raise InvalidInput(
                f"{place}: unpacks to more than {MAX_RATIO} times its size (a zip bomb?)", hint=_UNSAFE
            )
    total = sum(info.file_size for info in members)
    if total > MAX_TOTAL_BYTES:
        raise InvalidInput(
            f"{name}: unpacks to {total // 2**20} MiB, more than {MAX_TOTAL_BYTES // 2**20}",
            hint="Unpack it and import the folder.",
        )
