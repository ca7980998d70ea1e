"""The answers of REST as plain objects. The pages ask the same functions, so that both tell the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pilotage.core.cursors import cut
from pilotage.core.errors import InvalidInput, NotFound
from pilotage.core.text import did_you_mean
from pilotage.library.catalogue import Catalogue
from pilotage.library.insight.reasons import labels
from pilotage.library.record import Lang, Record, read_record
from pilotage.library.search.engine import Request as SearchRequest
from pilotage.library.stores.protocol import Audience, Filters, Stored
from pilotage.library.terms import FACET_OF, FACETS, KINDS, Term, tags_of
from pilotage.web.api.queries import names
from pilotage.web.checking import Offer, incident_checks, shipped

INCIDENT_EXTRA = ("related", "history", "terms", "checks")
LIST_EXTRA = ("facets", "terms")
_RELATED_SHOWN = 5
_CASES_SHOWN = 10
_LEAST_COMPARED, _MOST_COMPARED = 2, 4


@dataclass(frozen=True)
class Reader:
    """Who asks.

    Attributes:
        catalogue: the answers.
        audience: whose records the one who asks may see.
        lang: the language of labels and titles.
        offer: the checks that there are.
    """

    catalogue: Catalogue
    audience: Audience
    lang: Lang
    offer: Offer = field(default_factory=shipped)


def search(reader: Reader, request: SearchRequest) -> dict[str, Any]:
    """A search; see `models.SearchAnswer`.

    Raises:
        UnknownTerm, InvalidInput: see `Catalogue.search`.
    """
    return reader.catalogue.search(request).to_json(reader.lang, reader.catalogue.vocabulary)


def incidents(  # noqa: PLR0913 - filters, part and what of each
    reader: Reader,
    filters: Filters,
    *,
    limit: int,
    cursor: str | None = None,
    fields: Sequence[str] = (),
    extra: Sequence[str] = (),
) -> dict[str, Any]:
    """A part of the list of incidents; see `models.Incidents`.

    Raises:
        UnknownTerm: a field or an extra block does not exist.
        InvalidInput: the cursor is none, or belongs to another list.
    """
    shown = names(fields, Record.model_fields, "field of a record")
    blocks = names(extra, LIST_EXTRA, "extra block")
    page = reader.catalogue.page(filters, reader.audience, limit=limit, cursor=cursor)
    items = []
    for stored in page.items:
        item = list_item(stored, reader.lang)
        if shown:
            item["record"] = _part(stored.document, shown)
        if "terms" in blocks:
            item["terms"] = terms_of(reader, stored.document)
        items.append(item)
    found: dict[str, Any] = {"total": page.total, "items": items, "next": page.next}
    if "facets" in blocks:
        found["facets"] = facet_counts(reader, filters)
    return found


def list_item(stored: Stored, lang: Lang) -> dict[str, Any]:
    """An incident in a list; see `models.ListItem`."""
    document = stored.document
    title = document.get("title") or {}
    return {
        "id": stored.id,
        "aliases": document.get("aliases") or [],
        "organisation": document.get("org"),
        "date": document.get("date"),
        "date_kind": document.get("date_kind"),
        "date_precision": document.get("date_precision"),
        "title": title.get(lang) or title.get("en") or title.get("ko") or "",
        "status": document.get("status", "draft"),
        "private": stored.private,
        "sources": [source["url"] for source in document.get("sources") or []],
        "url": f"/incidents/{stored.id}",
    }


def incident(
    reader: Reader,
    name: str,
    *,
    fields: Sequence[str] = (),
    extra: Sequence[str] = (),
    revision: int | None = None,
) -> dict[str, Any]:
    """One incident; see `models.Incident`. Its `id` differs from `name` when that was an alias.

    Raises:
        NotFound: no such record or revision that the reader may see.
        UnknownTerm: a field or an extra block does not exist.
    """
    blocks = names(extra, INCIDENT_EXTRA, "extra block")
    stored = reader.catalogue.stored(name, reader.audience)
    document, number, stored_at, digest = stored.document, stored.revision, stored.stored_at, stored.digest
    if revision is not None:
        older = reader.catalogue.revision(stored.id, revision, reader.audience)
        document, number, stored_at, digest = older.document, older.number, older.stored_at, older.digest
    shown = names(fields, [*Record.model_fields, *document], "field of a record")
    found: dict[str, Any] = {
        "id": stored.id,
        "url": f"/incidents/{stored.id}",
        "revision": number,
        "revisions": stored.revision,
        "stored_at": stored_at,
        "digest": digest,
        "status": stored.document.get("status", "draft"),
        "withdrawn_reason": stored.document.get("withdrawn_reason"),
        "private": stored.private,
        "record": _part(document, shown) if shown else document,
    }
    if "related" in blocks:
        found["related"] = related(reader, stored.id, limit=_RELATED_SHOWN)
    if "history" in blocks:
        found["history"] = history(reader, stored.id)
    if "terms" in blocks:
        found["terms"] = terms_of(reader, document)
    if "checks" in blocks:
        found["checks"] = incident_checks(reader.offer.looking_for(stored.id))
    return found


def related(reader: Reader, name: str, *, limit: int, cursor: str | None = None) -> dict[str, Any]:
    """Related incidents; see `models.Related`.

    Raises:
        NotFound: no such record that the reader may see.
    """
    return reader.catalogue.related(name, reader.audience, reader.lang, limit=limit, cursor=cursor).to_json()


def history(reader: Reader, name: str) -> dict[str, Any]:
    """The revisions of a record; see `models.History`.

    Raises:
        NotFound: no such record that the reader may see.
    """
    id_ = reader.catalogue.stored(name, reader.audience).id
    revisions = reader.catalogue.store.revisions(id_, reader.audience)
    before: list[dict[str, Any]] = [revision.document for revision in revisions[1:]]
    return {
        "id": id_,
        "revisions": [
            {
                "number": revision.number,
                "stored_at": revision.stored_at,
                "origin": revision.origin,
                "digest": revision.digest,
                "changed": _differing(before[place], revision.document) if place < len(before) else [],
            }
            for place, revision in enumerate(revisions)
        ],
    }


def terms_of(reader: Reader, document: dict[str, Any]) -> list[dict[str, Any]]:
    """The tags of a record with their labels."""
    vocabulary = reader.catalogue.vocabulary
    return [
        {"facet": facet, "slug": slug, "label": labels(vocabulary, facet, slug)}
        for facet, slug in tags_of(read_record(document), vocabulary)
    ]


def topic(reader: Reader, filters: Filters, *, limit: int, cursor: str | None = None) -> dict[str, Any]:
    """A topic; see `models.Topic`."""
    found = reader.catalogue.topic(filters.all_of, reader.audience, reader.lang, limit=limit, cursor=cursor)
    return found.to_json()


def facet_counts(reader: Reader, filters: Filters) -> dict[str, list[dict[str, Any]]]:
    """Facet -> its terms with their number of records, the most frequent first."""
    counted = reader.catalogue.store.facets(filters, reader.audience)
    return {
        facet: [
            {
                "slug": slug,
                "label": reader.catalogue.vocabulary.facet_label(facet, slug, reader.lang),
                "count": count,
            }
            for slug, count in sorted(counted[facet].items(), key=lambda pair: (-pair[1], pair[0]))
        ]
        for facet in FACETS
        if facet in counted
    }


def vocabulary(reader: Reader) -> dict[str, Any]:
    """The kinds of vocabulary; see `models.Kinds`."""
    known = reader.catalogue.vocabulary
    return {
        "kinds": [
            {
                "kind": kind,
                "facet": FACET_OF.get(kind),
                "version": known.versions[kind],
                "terms": len(known.of(kind)),
                "url": f"/vocabulary/{kind}",
            }
            for kind in KINDS
        ]
    }


def kind_terms(reader: Reader, kind: str, *, used: bool = False) -> dict[str, Any]:
    """The terms of a kind; see `models.Terms`.

    Raises:
        NotFound: there is no such kind.
    """
    terms = _kind(reader, kind)
    borne = reader.catalogue.store.facets(Filters(), reader.audience).get(FACET_OF[kind], {})
    return {
        "kind": kind,
        "facet": FACET_OF[kind],
        "version": reader.catalogue.vocabulary.versions[kind],
        "terms": [
            _term(term, borne.get(slug, 0)) for slug, term in terms.items() if not used or borne.get(slug)
        ],
    }


def term(reader: Reader, kind: str, slug: str) -> dict[str, Any]:
    """One term with companions and newest cases; see `models.WholeTerm`.

    Raises:
        NotFound: there is no such kind or term.
    """
    terms = _kind(reader, kind)
    if slug not in terms:
        raise NotFound(f"'{slug}' is no term of {kind}", hint=did_you_mean(slug, terms))
    facet = FACET_OF[kind]
    tag = (facet, reader.catalogue.vocabulary.resolve(kind, slug))
    about = topic(reader, Filters(all_of=(tag,)), limit=_CASES_SHOWN)
    return _term(terms[slug], about["total"]) | {
        "narrower": [other.slug for other in terms.values() if other.parent == slug],
        "companions": about["companions"],
        "cases": about["cases"],
    }


def organisations(reader: Reader, *, limit: int, cursor: str | None = None) -> dict[str, Any]:
    """A part of the organisations that records name; see `models.Organisations`.

    Raises:
        InvalidInput: the cursor is none, or belongs to another list.
    """
    counts = reader.catalogue.store.facets(Filters(), reader.audience).get("organisation", {})
    slugs = sorted(slug for slug, count in counts.items() if count)
    question = ("organisations", reader.audience)
    found = cut(slugs, lambda slug: (slug,), size=1, limit=limit, cursor=cursor, question=question)
    return {
        "total": found.total,
        "items": [_organisation(reader, slug, counts[slug]) for slug in found.items],
        "next": found.onward.next,
    }


def organisation(reader: Reader, slug: str, *, limit: int, cursor: str | None = None) -> dict[str, Any]:
    """One organisation with its incidents; see `models.Organisation`.

    Raises:
        NotFound: no record that the reader may see names it, nor does the vocabulary.
        InvalidInput: the cursor is none, or belongs to another list.
    """
    counts = reader.catalogue.store.facets(Filters(withdrawn=True), reader.audience).get("organisation", {})
    known = reader.catalogue.vocabulary.of("organisations")
    if not counts.get(slug) and slug not in known:
        hint = did_you_mean(slug, [*counts, *known]) or "The list of organisations has all slugs."
        raise NotFound(f"no organisation '{slug}'", hint=hint)
    filters = Filters(all_of=(("organisation", slug),))
    part = incidents(reader, filters, limit=limit, cursor=cursor)
    found = _organisation(reader, slug, part["total"])
    if slug not in known and part["items"]:
        name = part["items"][0]["organisation"] or slug
        found["label"] = {"en": name, "ko": name}
    return found | {"incidents": part, "facets": facet_counts(reader, filters)}


def statistics(reader: Reader, filters: Filters) -> dict[str, Any]:
    """The library in numbers; see `models.Statistics`."""
    return reader.catalogue.statistics(reader.audience, filters).to_json()


def matrix(reader: Reader, first: str, second: str, filters: Filters, *, limit: int) -> dict[str, Any]:
    """How often the terms of two facets stand together; see `models.Matrix`.

    Raises:
        UnknownTerm: there is no such facet.
    """
    return reader.catalogue.matrix(first, second, reader.audience, filters, limit=limit).to_json()


def comparison(reader: Reader, ids: Sequence[str]) -> dict[str, Any]:
    """Two to four incidents side by side; see `models.Comparison`.

    Raises:
        NotFound: no such record that the reader may see.
        InvalidInput: it is one, or more than four.
    """
    wanted = list(dict.fromkeys(part.strip() for text in ids for part in text.split(",") if part.strip()))
    if not _LEAST_COMPARED <= len(wanted) <= _MOST_COMPARED:
        raise InvalidInput(
            f"{len(wanted)} incidents cannot be compared", hint="Give two to four: ?id=ONE&id=TWO."
        )
    found = [incident(reader, name, extra=("terms",)) for name in wanted]
    bearers: dict[tuple[str, str], list[str]] = {}
    named: dict[tuple[str, str], dict[str, Any]] = {}
    for one in found:
        for tag in one["terms"]:
            key = (tag["facet"], tag["slug"])
            bearers.setdefault(key, []).append(one["id"])
            named[key] = tag
    shared = [named[key] | {"ids": by} for key, by in bearers.items() if len(by) > 1]
    return {"incidents": found, "shared": shared}


def _kind(reader: Reader, kind: str) -> dict[str, Term]:
    if kind not in KINDS:
        raise NotFound(f"'{kind}' is no kind of vocabulary", hint=did_you_mean(kind, KINDS))
    return reader.catalogue.vocabulary.of(kind)


def _term(known: Term, records: int) -> dict[str, Any]:
    return {
        "kind": known.kind,
        "facet": FACET_OF.get(known.kind),
        "slug": known.slug,
        "label": dict(known.label),
        "definition": dict(known.definition),
        "synonyms": {lang: list(words) for lang, words in known.synonyms.items()},
        "parent": known.parent,
        "crosswalk": dict(known.crosswalk),
        "replaced_by": known.replaced_by,
        "records": records,
        "url": f"/vocabulary/{known.kind}/{known.slug}",
    }


def _organisation(reader: Reader, slug: str, records: int) -> dict[str, Any]:
    label = labels(reader.catalogue.vocabulary, "organisation", slug)
    return {"slug": slug, "label": label, "records": records, "url": f"/organisations/{slug}"}


def _part(document: dict[str, Any], fields: Sequence[str]) -> dict[str, Any]:
    return {key: document.get(key) for key in fields}


def _differing(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    absent = object()
    return [key for key in dict.fromkeys([*old, *new]) if old.get(key, absent) != new.get(key, absent)]
