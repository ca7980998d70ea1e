"""A Git repository, read through its plumbing: commits, trees, blobs; nothing is written or checked out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from pilotage.clients.process import Output, find, run
from pilotage.core.errors import BadReply, NotFound, Refused, ToolMissing
from pilotage.core.paths import is_folder

_VARIABLES = {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat"}
LINK, SUBMODULE = "120000", "160000"
_AT_ONCE_BYTES = 32 * 1024 * 1024


class Entry(msgspec.Struct, frozen=True):
    """A file of a tree.

    Attributes:
        mode: as Git writes it; `LINK` for a symbolic link.
        blob: name of its content.
        size: its bytes.
        path: from the top of the repository, with slashes.
    """

    mode: str
    blob: str
    size: int
    path: str


class Repository:
    """The repository that a folder belongs to.

    Args:
        folder: any folder in its work tree.

    Raises:
        ToolMissing: there is no Git.
        NotFound: the folder is in no repository.
        BadReply: it answers with something else.
    """

    def __init__(self, folder: Path) -> None:
        git = find("git")
        if git is None:
            raise ToolMissing(
                "there is no git on the PATH", hint="Install Git, or leave out --changed-since."
            )
        self._git = git
        self._folder = folder
        done = self._ask("rev-parse", "--show-toplevel")
        if done.code:
            said = _first(done.err)
            if "not a git repository" in said:
                raise NotFound(f"{folder} is in no Git repository", hint="Run it inside of a clone.")
            raise Refused(f"git: {said}")
        said = done.out.decode("utf-8", "surrogateescape").rstrip("\n")
        if "\0" in said or not is_folder(Path(said)) or not Path(said).is_absolute():
            raise BadReply(f"git names no folder as the top of the repository, but {said[:60]!r}")
        self.top = Path(said)

    def commit(self, name: str) -> str:
        """The commit of a name: a branch, a tag, a hash.

        Raises:
            NotFound: there is none of this name here.
        """
        done = self._ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        if done.code:
            hint = "Fetch it first: git fetch origin main."
            if self.shallow:
                hint = "This clone is shallow: git fetch --unshallow, or fetch-depth: 0 in a workflow."
            raise NotFound(f"Git knows no commit '{name}'", hint=hint)
        return done.out.decode("ascii", "replace").strip()

    @property
    def shallow(self) -> bool:
        """Whether the clone holds only the last part of the history."""
        return self._ask("rev-parse", "--is-shallow-repository").out.strip() == b"true"

    def merge_base(self, commit: str) -> str:
        """The last commit that HEAD and another commit have in common.

        Raises:
            NotFound: there is none, perhaps because the clone is shallow.
        """
        done = self._ask("merge-base", commit, "HEAD")
        found = done.out.decode("ascii", "replace").strip()
        if done.code or not found:
            hint = "Name a commit of the same history."
            if self.shallow:
                hint = "This clone is shallow: git fetch --unshallow, or fetch-depth: 0 in a workflow."
            raise NotFound("HEAD and that commit have no common ancestor here", hint=hint)
        return found

    def entries(self, commit: str) -> Iterator[Entry]:
        """All files of a commit."""
        done = self._ask("ls-tree", "-r", "-z", "-l", "--full-tree", commit)
        if done.code:
            raise BadReply(f"git ls-tree: {_first(done.err)}")
        for line in done.out.split(b"\0"):
            if not line:
                continue
            head, _, path = line.partition(b"\t")
            parts = head.decode("ascii", "replace").split()
            if len(parts) != 4:  # noqa: PLR2004 - mode, kind, name, size
                raise BadReply("git ls-tree answers with something that is no list of files")
            mode, _, blob, size = parts
            number = int(size) if size.isdigit() else 0
            yield Entry(mode, blob, number, path.decode("utf-8", "surrogateescape"))

    def contents(self, entries: Sequence[Entry]) -> Iterator[tuple[Entry, bytes]]:
        """The contents of files as they were committed, a part at a time."""
        part: list[Entry] = []
        size = 0
        for entry in entries:
            part.append(entry)
            size += entry.size
            if size > _AT_ONCE_BYTES:
                yield from self._read(part)
                part, size = [], 0
        if part:
            yield from self._read(part)

    def _read(self, entries: list[Entry]) -> Iterator[tuple[Entry, bytes]]:
        given = "".join(f"{entry.blob}\n" for entry in entries).encode("ascii")
        out = self._ask("cat-file", "--batch", given=given).out
        at = 0
        for entry in entries:
            end = out.find(b"\n", at)
            head = out[at:end].split()
            if end < 0 or len(head) != 3 or not head[2].isdigit():  # noqa: PLR2004 - name, type, size
                raise BadReply(
                    f"git has no content of {entry.path}", hint="A partial clone? git fetch --refetch."
                )
            at = end + 1 + int(head[2])
            yield entry, out[end + 1 : at]
            at += 1

    def _ask(self, *arguments: str, given: bytes = b"") -> Output:
        return run([self._git, *arguments], given=given, folder=self._folder, variables=_VARIABLES)


def _first(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0].removeprefix("fatal: ") if lines else "it failed and said nothing"
