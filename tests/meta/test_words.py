"""One word for one thing: what GLOSSARY.md says to avoid is not written."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest

from meta.tree import ROOT, SOURCE, parsed, python_files
from pilotage.library.bundled import bundled_candidates
from pilotage.library.record import Record, read_record
from pilotage.library.terms import load_vocabulary

ROW = re.compile(
    r"^\| (?P<en>[^|]+) \| (?P<ko>[^|]+) \| (?P<meaning>[^|]+) \|(?P<avoid>[^|]*)\|$", re.MULTILINE
)
CODE = re.compile(r"```.*?```|`[^`]*`|\]\([^)]*\)|<https?:[^>]*>", re.DOTALL)
GLOSSARY = [row.groupdict() for row in ROW.finditer((ROOT / "GLOSSARY.md").read_text("utf-8"))]
TERMS = [row for row in GLOSSARY if row["en"] != "English" and not row["en"].startswith("---")]
AVOIDED = [(row["en"], word.strip()) for row in TERMS for word in row["avoid"].split(",") if word.strip()]


def pattern(word: str) -> re.Pattern[str]:
    if re.search("[가-힣]", word):
        return re.compile(re.escape(word))
    return re.compile(rf"\b{re.escape(word)}s?\b", re.IGNORECASE)


@functools.cache
def texts() -> dict[str, str]:
    """Prose by place: documents without code, docstrings."""
    found = {}
    for page in [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md"), *(ROOT / "changes").glob("*.md")]:
        # The vocabulary describes others, in their words too.
        if page.name not in {"GLOSSARY.md", "vocabulary.md"}:
            found[str(page.relative_to(ROOT))] = CODE.sub(" ", page.read_text("utf-8"))
    for path in python_files(SOURCE):
        found[str(path.relative_to(ROOT))] = CODE.sub(" ", "\n".join(docstrings(path)))
    return found


@functools.cache
def records() -> list[Record]:
    return [read_record(candidate.document) for candidate in bundled_candidates()]


def docstrings(path: Path) -> list[str]:
    """Docstrings of modules, classes and functions, and strings that stand alone below an attribute."""
    return [
        node.value.value
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ]


@pytest.mark.parametrize(("term", "word"), AVOIDED, ids=str)
def test_avoided_words_are_not_written(term: str, word: str) -> None:
    found = [
        f"{place}: …{text[max(0, match.start() - 40) : match.end() + 40]}…"
        for place, text in texts().items()
        for match in pattern(word).finditer(text)
    ]
    assert not found, f"write '{term}' instead of '{word}'"


@pytest.mark.parametrize(
    ("term", "word"),
    [pair for pair in AVOIDED if re.search("[가-힣]", pair[1])],
    ids=str,
)
def test_avoided_korean_words_are_not_in_records(term: str, word: str) -> None:
    # A bare word only: 사고 is also a part of other words, such as 사고방식.
    wanted = re.compile(rf"(?<![가-힣]){re.escape(word)}(?![가-힣]*방식)")
    found = []
    for record in records():
        found += [f"{record.id}: {field}" for field, text in record.texts() if wanted.search(text.ko or "")]
    assert not found, f"write '{term}' instead of '{word}'"


def test_glossary_is_a_table_of_terms() -> None:
    assert len(TERMS) > 100
    names = [row["en"] for row in TERMS]
    assert len(set(names)) == len(names)
    for row in TERMS:
        assert re.search("[가-힣]", row["ko"]), row["en"]
        assert row["meaning"].strip()
    avoided = [word for _, word in AVOIDED]
    assert not set(avoided) & set(names)


def test_glossary_and_vocabulary_agree_in_korean() -> None:
    """A term that both have bears one Korean label."""
    korean = {row["en"].lower(): row["ko"] for row in TERMS}
    differing = []
    for term in load_vocabulary():
        wanted = korean.get(term.label.get("en", "").lower())
        if wanted is not None and term.label.get("ko") != wanted:
            differing.append(f"{term.kind} {term.slug}: {term.label.get('ko')}, glossary {wanted}")
    assert not differing
