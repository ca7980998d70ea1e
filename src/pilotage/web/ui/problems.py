"""Problems as a reader sees them: in the language of the page, with the way to what was probably meant."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from urllib.parse import quote

from pilotage.library.record import Lang
from pilotage.web.errors import Problem
from pilotage.web.ui.problem_words import BY_CODE, SENTENCES

_NAMED = ("/incidents/", "/organisations/", "/vocabulary/", "/checks/")
"""Addresses whose last part is a name, which a hint may put right."""
_QUOTED = re.compile(r"'([^']+)'")


@dataclass(frozen=True)
class Said:
    """A problem in the language of a page.

    Attributes:
        detail: what is wrong.
        hint: what to do; may be empty.
        english: the sentence as programs get it, where the page has none of its own for it.
    """

    detail: str
    hint: str
    english: str = ""


def said(problem: Problem, lang: Lang) -> Said:
    """What a page tells of a problem."""
    if lang == "en":
        return Said(_capital(problem.detail), problem.hint)
    detail = in_korean(problem.detail)
    # Half a hint in another language helps less than none.
    hint = in_korean(problem.hint) or ""
    if detail is None:
        # Of what failed on our side, the sentence of the code is all that is told in English too.
        english = problem.detail if problem.status < HTTPStatus.INTERNAL_SERVER_ERROR else ""
        return Said(BY_CODE.get(problem.code, BY_CODE["error"]), hint, english)
    return Said(detail, hint)


def in_korean(sentence: str) -> str | None:
    """The Korean sentence of an English one; None when the catalogue has none."""
    for pattern, korean in _patterns():
        match = pattern.fullmatch(sentence)
        if match is not None:
            return korean.format(*(place.replace("' or '", "', '") for place in match.groups()))
    return None


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    # The most fixed letters first: a sentence with fewer could swallow another.
    ordered = sorted(SENTENCES, key=lambda english: -len(english.replace("{}", "")))
    fixed = [[re.escape(part) for part in english.split("{}")] for english in ordered]
    return tuple(
        (re.compile("(.*?)".join(parts), re.DOTALL), SENTENCES[english])
        for english, parts in zip(ordered, fixed, strict=True)
    )


def meant(path: str, problem: Problem) -> list[tuple[str, str]]:
    """Name and address of what the reader of an address probably meant, as the hint has it."""
    folder, _, _ = path.rpartition("/")
    if not problem.hint.startswith("Did you mean") or not path.startswith(_NAMED):
        return []
    return [(name, f"{quote(folder)}/{quote(name, safe='')}") for name in _QUOTED.findall(problem.hint)]


def _capital(text: str) -> str:
    # A place in a text is written as the text has it.
    return text if ":" in text.partition(" ")[0] else text[:1].upper() + text[1:]
