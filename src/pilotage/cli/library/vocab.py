"""`pilotage library vocab`."""

from __future__ import annotations

import shlex

import click

from pilotage.cli.library.options import App, library_options
from pilotage.cli.output import console, say, say_json
from pilotage.core.errors import NotFound, UnknownTerm
from pilotage.core.settings import default_store
from pilotage.core.text import did_you_mean, nearest
from pilotage.library.stores.protocol import Filters
from pilotage.library.terms import FACET_OF, KINDS, Term, Vocabulary, load_vocabulary


@click.command()
@click.argument("kind", required=False)
@click.argument("term", required=False)
@click.option("--used", is_flag=True, help="Only terms that a record bears.")
@library_options
def vocab(app: App, kind: str | None, term: str | None, used: bool) -> None:
    """The terms that records are tagged with: label, definition, synonyms, number of records.

    KIND is one of domains, symptoms, components, root-causes, contributing, detection, remediation,
    severities, source-kinds, organisations; without it the kinds are listed. TERM is a slug, a label or a
    synonym.

    \b
    Examples:
      pilotage library vocab
      pilotage library vocab components
      pilotage library vocab symptoms oom
      pilotage library vocab components 인그레스 --lang ko
    """
    vocabulary = load_vocabulary()
    if kind is None:
        _say_kinds(app, vocabulary)
        return
    chosen = _kind(kind)
    terms = list(vocabulary.of(chosen).values())
    if term is not None:
        terms = [_term(chosen, term, terms, vocabulary)]
    borne = _borne(app, FACET_OF[chosen])
    terms = [item for item in terms if not used or borne.get(item.slug)]
    if app.as_json:
        say_json({"kind": chosen, "terms": [_to_json(item, borne.get(item.slug, 0)) for item in terms]})
        return
    _say_terms(app, terms, borne, whole=term is not None)


def _say_kinds(app: App, vocabulary: Vocabulary) -> None:
    listed = [(name, vocabulary.versions[name], len(vocabulary.of(name))) for name in KINDS]
    if app.as_json:
        say_json(
            {"kinds": [{"kind": name, "version": version, "terms": size} for name, version, size in listed]}
        )
        return
    for name, version, size in listed:
        say(console(), f"{name:<14} {size:>4} terms, version {version}")


def _borne(app: App, facet: str) -> dict[str, int]:
    """Number of records by slug; none where the user has no store yet: terms can be read all the same."""
    try:
        with app.store() as store:
            return store.facets(Filters(), app.audience).get(facet, {})
    except NotFound:
        if app.settings.store.url != default_store():
            raise
        return {}


def _kind(name: str) -> str:
    word = name.lower().replace("_", "-")
    for known in KINDS:
        if word in {known, known.removesuffix("s"), FACET_OF[known].replace("_", "-")}:
            return known
    raise UnknownTerm(
        f"'{name}' is no kind of vocabulary", hint=did_you_mean(word, KINDS) or f"Kinds: {', '.join(KINDS)}."
    )


def _term(kind: str, name: str, terms: list[Term], vocabulary: Vocabulary) -> Term:
    wanted = name.strip().lower()
    for term in terms:
        if wanted in {known.lower() for known in term.names()}:
            return term
    names = {known.lower(): term.slug for term in terms for known in term.names()}
    near = dict.fromkeys(names[word] for word in nearest(wanted, names))
    hint = (
        f"Did you mean {' or '.join(repr(slug) for slug in near)}?"
        if near
        else f"`pilotage library vocab {kind}` lists them."
    )
    others = [
        other
        for other in KINDS
        if any(wanted in {known.lower() for known in term.names()} for term in vocabulary.of(other).values())
    ]
    if others:
        hint = f"It is a term of {others[0]}: `pilotage library vocab {others[0]} {shlex.quote(wanted)}`."
    raise UnknownTerm(f"'{name}' is no term of {kind}", hint=hint)


def _to_json(term: Term, count: int) -> dict[str, object]:
    return {
        "slug": term.slug,
        "label": dict(term.label),
        "definition": dict(term.definition),
        "synonyms": {lang: list(words) for lang, words in term.synonyms.items()},
        "parent": term.parent,
        "crosswalk": dict(term.crosswalk),
        "replaced_by": term.replaced_by,
        "records": count,
    }


def _say_terms(app: App, terms: list[Term], borne: dict[str, int], *, whole: bool) -> None:
    out = console()
    for term in terms:
        label = term.label.get(app.lang, term.slug)
        say(out, f"{term.slug:<32} {borne.get(term.slug, 0):>4}  {label}", "bold" if whole else "")
        if not whole:
            continue
        say(out, term.definition.get(app.lang, ""), indent=4)
        words = [word for names in term.synonyms.values() for word in names]
        if words:
            say(out, ("also: " if app.lang == "en" else "다른 말: ") + ", ".join(words), "dim", indent=4)
        if term.parent:
            say(out, ("part of: " if app.lang == "en" else "상위: ") + term.parent, "dim", indent=4)
        for study, name in term.crosswalk.items():
            say(out, f"{study}: {name}", "dim", indent=4)
