"""Bringing candidates into a store: one import is one transaction, all of it or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rapidfuzz import fuzz

from pilotage.clients.db.scratch import Scratch
from pilotage.core.errors import InvalidInput, UnknownTerm
from pilotage.library.canonical import digest
from pilotage.library.embedding import Embedder, vectors_of
from pilotage.library.entry import index_entry
from pilotage.library.importers.model import Candidate, Note
from pilotage.library.record import Record, read_record
from pilotage.library.redaction import Redaction, redact
from pilotage.library.stores.protocol import Audience, New, Outcome, Store, Writer
from pilotage.library.terms import Vocabulary

_BATCH = 64
"""Records that get their missing vectors in one transaction."""
_TOLD = 1000
"""Possible duplicates, and unknown slugs, of which each is told: a report does not grow with the import."""
_ALIKE_TITLES = 80.0
"""Likeness of two titles, 0 to 100, from which two records of one organisation and day are called alike."""


@dataclass(frozen=True)
class Likeness:
    """Two records that may be about the same incident.

    Attributes:
        id: of the record that came in.
        other: of the one that is there.
        why: `same source` or `same organisation and date, similar title`.
    """

    id: str
    other: str
    why: str


@dataclass(frozen=True)
class Item:
    """What happened to one candidate.

    Attributes:
        id: of its record.
        place: where it came from.
        outcome: new, changed or unchanged.
        notes: the mapping report of its importer.
        redactions: what was blacked out.
        alike: records that may be about the same incident.
    """

    id: str
    place: str
    outcome: Outcome
    notes: tuple[Note, ...]
    redactions: tuple[Redaction, ...]
    alike: tuple[Likeness, ...]


@dataclass
class Report:
    """The sum of an import.

    Attributes:
        new, changed, unchanged: number of records.
        redacted: number of places that were blacked out.
        alike: the first thousand possible duplicates; reported, never merged.
        alike_more: number of those that follow them.
        unknown: the first thousand unknown slugs, as `components: ingres` -> how often.
        unknown_more: how often others stand there.
        nearest: the slugs of `unknown` -> which known ones are near.
    """

    new: int = 0
    changed: int = 0
    unchanged: int = 0
    redacted: int = 0
    alike: list[Likeness] = field(default_factory=list)
    alike_more: int = 0
    unknown: dict[str, int] = field(default_factory=dict)
    unknown_more: int = 0
    nearest: dict[str, str] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """Number of records that came in."""
        return self.new + self.changed + self.unchanged


class _Undo(Exception):
    """Leaves the transaction of a dry run without keeping anything."""


@dataclass(frozen=True)
class Ingest:
    """How records are brought in.

    Attributes:
        store: where to.
        vocabulary: for tags and index.
        embedder: for vectors; None for none.
        private: whether the records become private. Private ones are redacted before they are stored, also
            those that call themselves private.
        words: words to black out in private records.
        audience: among whose records possible duplicates are looked for.
        strict: whether a slug that the vocabulary does not know is an error.
        dry_run: whether everything is undone at the end.
        on_item: told what happened to each candidate.
        on_vectors: told (done, total) while records that were there before get the vectors they lack.
    """

    store: Store
    vocabulary: Vocabulary
    embedder: Embedder | None = None
    private: bool = False
    words: Sequence[str] = ()
    audience: Audience = "all"
    strict: bool = False
    dry_run: bool = False
    on_item: Callable[[Item], None] | None = None
    on_vectors: Callable[[int, int], None] | None = None

    def run(self, candidates: Iterable[Candidate]) -> Report:
        """Brings all candidates in, in one transaction.

        Afterwards, unless it is a dry run, every record of the store that has no vectors of the embedder
        gets them (it was stored before the extra was installed), in transactions of their own: when that is
        broken off, the next import goes on with it.

        Raises:
            InvalidInput: a candidate is no record, or would overwrite another one of them; nothing is kept.
            UnknownTerm: with `strict`, a slug is not in the vocabulary; nothing is kept.
            Conflict: an id or alias belongs to another record; nothing is kept.
        """
        report = Report()
        try:
            with self.store.transaction() as writer, Scratch() as seen:
                for candidate in candidates:
                    self._take(candidate, writer, report, seen)
                if self.dry_run:
                    raise _Undo  # noqa: TRY301 - the transaction is undone by leaving it so
        except _Undo:
            return report
        if self.embedder is not None:
            self._complete(self.embedder)
        return report

    def _take(self, candidate: Candidate, writer: Writer, report: Report, seen: Scratch) -> None:
        if self.strict:
            _refuse_unknown(candidate)
        document = dict(candidate.document)
        redactions: list[Redaction] = []
        if self.private:
            document["visibility"] = "private"
        if document.get("visibility") == "private":
            # Also a record that calls itself private: nothing private is stored before it is redacted.
            document, redactions = redact(document, self.words)
        record = read_record(document, where=candidate.place)
        new = self._prepare(record, document, candidate)
        _see(record, new.digest, candidate.place, seen)
        if self.embedder is not None and _differs(new, writer):
            new.vectors[self.embedder.name] = vectors_of(new.entry, self.embedder)
        outcome = writer.put(new)
        alike = () if outcome == "unchanged" else tuple(_alike(record, new, writer, self.audience))
        _count(report, outcome, redactions, alike, candidate.notes)
        if self.on_item is not None:
            self.on_item(Item(record.id, candidate.place, outcome, candidate.notes, tuple(redactions), alike))

    def _prepare(self, record: Record, document: dict[str, object], candidate: Candidate) -> New:
        entry = index_entry(record, self.vocabulary)
        return New(
            id=record.id,
            aliases=tuple(record.aliases),
            document=document,
            digest=digest(document),
            private=record.visibility == "private",
            entry=entry,
            origin=self._origin(candidate, private=record.visibility == "private"),
            order_date=record.date or "",
        )

    def _origin(self, candidate: Candidate, *, private: bool) -> str:
        origin = f"{candidate.format}: {candidate.place}"
        # The name of a private file is as private as what it holds.
        return str(redact({"origin": origin}, self.words)[0]["origin"]) if private else origin

    def _complete(self, embedder: Embedder) -> None:
        """Gives vectors to the records that have none of this embedder, batch by batch."""
        missing = self.store.without_vectors(embedder.name)
        for start in range(0, len(missing), _BATCH):
            batch = missing[start : start + _BATCH]
            vectors = {}
            for stored in self.store.get(batch, "all").values():
                entry = index_entry(read_record(stored.document, where=stored.id), self.vocabulary)
                if entry.passages:
                    vectors[stored.id] = vectors_of(entry, embedder)
            if vectors:
                self.store.add_vectors(embedder.name, vectors)
            if self.on_vectors is not None:
                self.on_vectors(start + len(batch), len(missing))


def _refuse_unknown(candidate: Candidate) -> None:
    for note in candidate.notes:
        if note.kind == "unknown-slug":
            raise UnknownTerm(
                f"{candidate.place}: {note.target}: unknown slug '{note.source}' ({note.why})",
                hint="Mend it, or leave out --strict to keep it as it is; nothing was imported.",
            )


def _see(record: Record, digest: str, place: str, seen: Scratch) -> None:
    """Refuses what would overwrite a record of the same import."""
    if seen.note(record.id, digest) not in {None, digest}:
        raise InvalidInput(
            f"{place}: the id '{record.id}' came before in this import, with other content",
            hint="Give one of them another id; nothing was imported.",
        )
    for alias in record.aliases:
        if alias != record.id and alias in seen:
            raise InvalidInput(
                f"{place}: the alias '{alias}' is the id of another record of this import",
                hint="Leave out the alias, or that record; nothing was imported.",
            )


def _differs(new: New, writer: Writer) -> bool:
    there = writer.find(new.id)
    return there is None or there.digest != new.digest


def _alike(record: Record, new: New, writer: Writer, audience: Audience) -> Iterable[Likeness]:
    found: dict[str, str] = {}
    for ids in writer.owners(new.entry.urls, audience).values():
        found |= dict.fromkeys(ids, "same source")
    title = record.title.get("en") if record.title else ""
    if record.organisation and record.date and title:
        for other, document in writer.same_day(record.organisation, record.date, audience):
            if fuzz.token_set_ratio(title, _title_of(document)) >= _ALIKE_TITLES:
                found.setdefault(other, "same organisation and date, similar title")
    own = {record.id, *record.aliases}
    known = {*record.related_reasons, *(record.related or []), record.recurrence_of, *own}
    return [Likeness(record.id, other, why) for other, why in sorted(found.items()) if other not in known]


def _title_of(document: Mapping[str, object]) -> str:
    title = document.get("title")
    if not isinstance(title, dict):
        return ""
    return str(title.get("en") or title.get("ko") or "")


def _count(
    report: Report,
    outcome: Outcome,
    redactions: Sequence[Redaction],
    alike: tuple[Likeness, ...],
    notes: Sequence[Note],
) -> None:
    setattr(report, outcome, getattr(report, outcome) + 1)
    report.redacted += len(redactions)
    room = max(_TOLD - len(report.alike), 0)
    report.alike += alike[:room]
    report.alike_more += len(alike[room:])
    for note in notes:
        if note.kind == "unknown-slug":
            # The same slug at another place of a list is the same mistake.
            name = ".".join(part for part in note.target.split(".") if not part.isdigit())
            key = f"{name}: {note.source}" if name else note.source
            if key not in report.unknown and len(report.unknown) == _TOLD:
                report.unknown_more += 1
                continue
            report.unknown[key] = report.unknown.get(key, 0) + 1
            report.nearest[key] = note.why
