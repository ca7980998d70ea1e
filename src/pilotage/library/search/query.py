"""What a query asks for: operators, dates, vocabulary terms and the words that inform. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from pilotage.core.errors import InvalidInput, UnknownTerm
from pilotage.core.text import did_you_mean, nearest, printable
from pilotage.library.analysis import fold, is_hangul, is_stopword, stem, tokens, without_particle, words
from pilotage.library.search.dates import Dates, take_dates
from pilotage.library.search.lexicon import Lexicon, Mention
from pilotage.library.search.pasted import clip, is_pasted, without_noise
from pilotage.library.stores.protocol import NO_FILTERS, Filters, Phrase, Tag
from pilotage.library.terms import FACETS, Vocabulary, facet_name

_OPERATOR = re.compile(
    r"""(?:(?<=\s)|^)(?P<minus>-?)(?:(?P<field>[A-Za-z가-힣_-]{2,20}):)?"""
    r"""(?:"(?P<quoted>[^"\n]+)"|(?P<bare>[^\s"]+))"""
)
_BREAKS = re.compile(r"[\x0b-\x0d\x1c-\x1f\x85]")
"""Line breaks other than the usual one: they part words, where other control characters are dropped."""
INVISIBLE = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")
"""Characters of no width, as copied text holds them within words: they are as if they were not there."""
_QUOTED = re.compile(r'"([^"\s]+)"')
_QUOTES = str.maketrans(dict.fromkeys("“”„‟«»", '"'))
_TEXT_FIELDS = {"title", "제목"}
_KOREAN_FIELDS = {
    "조직": "organisation",
    "회사": "organisation",
    "연도": "year",
    "영역": "domain",
    "구성요소": "component",
    "증상": "symptom",
    "원인": "root_cause",
    "근본원인": "root_cause",
    "기여요인": "contributing",
    "상태": "status",
}  # fmt: skip
_UNSTATED = "not-stated"
"""A term about what a report leaves open; "unknown" in a query does not ask for it."""
_EVERYDAY = frozenset(map(stem, "line target grab zoom universe meta parse 라인 줌 타깃 당근 메타".split()))
"""Names of organisations that are everyday words first; they mean the organisation where a date is named."""
_LONGEST_TYPED = 60
_LEAST_FIELD = 5


@dataclass(frozen=True)
class Word:
    """A word of the query that informs.

    Attributes:
        text: as typed.
        tokens: its index tokens; several for Korean.
        position: its number among the words of the text.
    """

    text: str
    tokens: tuple[str, ...]
    position: int


@dataclass(frozen=True)
class Query:
    """A query, understood.

    Attributes:
        raw: as typed.
        text: what is left as free text.
        pasted: whether it was read as a paste.
        clipped: whether it was longer than what is read.
        words: the words that inform.
        mentions: the vocabulary terms that it speaks of.
        dates: (year, month or None) that it names.
        require: quoted phrases.
        exclude: excluded words and phrases.
        title: words that must stand in the title.
        filters: from `field:value`.
        corrections: typed word -> the name that was meant.
    """

    raw: str
    text: str = ""
    pasted: bool = False
    clipped: bool = False
    words: tuple[Word, ...] = ()
    mentions: tuple[Mention, ...] = ()
    dates: Dates = ()
    require: tuple[Phrase, ...] = ()
    exclude: tuple[Phrase, ...] = ()
    title: tuple[Phrase, ...] = ()
    filters: Filters = NO_FILTERS
    corrections: tuple[tuple[str, str], ...] = ()

    @property
    def empty(self) -> bool:
        """Whether it asks for nothing but filters and exclusions."""
        return not (self.words or self.mentions or self.dates or self.require or self.title)


def parse_query(
    raw: str, vocabulary: Vocabulary, lexicon: Lexicon, known_values: dict[str, set[str]]
) -> Query:
    """What a query asks for.

    Args:
        raw: as typed or pasted.
        vocabulary: for `field:value`.
        lexicon: its names.
        known_values: facet -> slugs that records bear beside those of the vocabulary (years, …).

    Raises:
        UnknownTerm: `field:value` with a value, or a mistyped field, that does not exist.
        InvalidInput: an operator that there is not, such as `-title:…`.
    """
    text, clipped = clip(printable(INVISIBLE.sub("", _BREAKS.sub(" ", raw))))
    if is_pasted(text):
        query = Query(raw=raw, pasted=True, clipped=clipped)
        return _with_words(query, without_noise(text), lexicon)
    text = fold(text).translate(_QUOTES)
    query = _operators(Query(raw=raw, clipped=clipped), text, vocabulary, lexicon, known_values)
    dates, rest = take_dates(query.text)
    return _with_words(replace(query, dates=dates), rest, lexicon)


def _operators(
    query: Query, text: str, vocabulary: Vocabulary, lexicon: Lexicon, known_values: dict[str, set[str]]
) -> Query:
    rest: list[str] = []
    require: list[Phrase] = []
    exclude: list[Phrase] = []
    title: list[Phrase] = []
    all_of: list[Tag] = []
    none_of: list[Tag] = []
    end = 0
    for part in _OPERATOR.finditer(text):
        # What is no operator, such as a word behind a quote that nothing closes, is text.
        rest += text[end : part.start()].split()
        end = part.end()
        minus, field = bool(part["minus"]), part["field"]
        value = part["quoted"] or part["bare"]
        in_title = bool(field) and field.lower() in _TEXT_FIELDS
        facet = _facet_of(field, value) if field and not in_title else None
        if in_title:
            if minus:
                raise InvalidInput(
                    "a word cannot be excluded from the title alone",
                    hint=f"-{value} leaves out the records that hold it anywhere.",
                )
            title.append(tuple(tokens(value)))
        elif facet:
            tag = (facet, facet_value(facet, value, vocabulary, lexicon, known_values))
            (none_of if minus else all_of).append(tag)
        elif minus and not value.startswith("-"):
            exclude.append(tuple(tokens(value)))
        elif part["quoted"] and not field:
            require.append(tuple(tokens(value)))
            rest.append(value)
        else:
            rest.append(part.group(0))
    rest += text[end:].split()
    return replace(
        query,
        text=" ".join(rest),
        require=tuple(filter(None, require)),
        exclude=tuple(filter(None, exclude)),
        title=tuple(filter(None, title)),
        filters=Filters(all_of=tuple(dict.fromkeys(all_of)), none_of=tuple(dict.fromkeys(none_of))),
    )


def _facet_of(field: str, value: str) -> str | None:
    """The facet of `field:value`, or None when it is text that happens to hold a colon."""
    if field in _KOREAN_FIELDS:
        return _KOREAN_FIELDS[field]
    try:
        return facet_name(field)
    except UnknownTerm:
        # `componnt:ingress` is a typing error, `error:timeout` and `https://…` are text.
        near = nearest(field, [*FACETS, "title"], limit=1)
        if (
            near
            and len(field) >= _LEAST_FIELD
            and re.fullmatch(r"[a-z0-9가-힣-]+", value)
            and abs(len(near[0]) - len(field)) <= 1
        ):
            raise
        return None


def facet_value(
    facet: str, value: str, vocabulary: Vocabulary, lexicon: Lexicon, known_values: dict[str, set[str]]
) -> str:
    """The slug that a user's word names within a facet: the slug itself, a label or a synonym.

    Raises:
        UnknownTerm: there is none; the hint names the nearest ones.
    """
    kind = FACETS[facet]
    terms = vocabulary.terms.get(kind or "", {})
    slug = value.strip().lower().replace("_", "-").replace(" ", "-")
    exact = known_values.get(facet, set())
    if slug in terms:
        return vocabulary.resolve(kind or "", slug)
    for candidate in (value.strip(), slug):
        if candidate in exact:
            return candidate
    for term in lexicon.terms_named(value):
        if term.kind == kind:
            return term.slug
    if facet == "year" and re.fullmatch(r"(19|20)\d{2}", slug):
        return slug
    raise UnknownTerm(
        f"'{value}' is no value of {facet}",
        hint=did_you_mean(
            slug, [*(s for s, t in terms.items() if not t.replaced_by), *sorted(exact - set(terms))]
        )
        or "`pilotage library vocab` lists the terms.",
    )


def _with_words(query: Query, text: str, lexicon: Lexicon) -> Query:
    spoken = words(text)
    informing: dict[str, Word] = {}
    for position, word in enumerate(spoken):
        if len(word) > _LONGEST_TYPED or is_stopword(word):
            continue
        bare = without_particle(word) if is_hangul(word) else word
        found = tuple(dict.fromkeys(tokens(bare)))
        if not found or (len(bare) == 1 and not is_hangul(bare)):
            continue
        informing.setdefault(found[0] if len(found) == 1 else bare, Word(bare, found, position))
    mentions = tuple(m for m in lexicon.mentions(spoken) if _meant(m, spoken, query))
    return replace(query, text=text, words=tuple(informing.values()), mentions=mentions)


def _meant(mention: Mention, spoken: list[str], query: Query) -> bool:
    if mention.term.slug == _UNSTATED:
        return False
    if mention.term.kind != "organisations" or query.dates or mention.first != mention.last:
        return True
    name = spoken[mention.first].lower()
    return (without_particle(name) if is_hangul(name) else stem(name)) not in _EVERYDAY


def own_names(query: Query) -> set[Phrase]:
    """The quoted phrases that are names somebody gave: in one piece, with a digit or a sign in it.

    `"policy-a"` and `"web1"` name a thing of one's own; a quoted plain word may be what the query is about.
    """
    quoted = _QUOTED.findall(fold(query.raw).translate(_QUOTES))
    return {tuple(tokens(name)) for name in quoted if not name.isalpha()} & set(query.require)


def refuse_unreadable(raw: str) -> None:
    """Refuses a query that cannot be text.

    Raises:
        InvalidInput: it holds a lone surrogate, as broken UTF-8 on a command line gives.
    """
    try:
        raw.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"the query is not valid text at character {error.start + 1}", hint="Send it as UTF-8."
        ) from error
