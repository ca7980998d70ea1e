"""No file and no function so long that nobody reads it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from meta.tree import ROOT, parsed, python_files

MOST_LINES = 500
MOST_LINES_OF_A_FUNCTION = 60
FILES = [*python_files(), *python_files(ROOT / "docs")]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_size_of_files_and_functions(path: Path) -> None:
    lines = len(path.read_text("utf-8").splitlines())
    assert lines <= MOST_LINES, f"{lines} lines: divide it"
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            size = (node.end_lineno or node.lineno) - node.lineno + 1
            assert size <= MOST_LINES_OF_A_FUNCTION, f"{node.name} has {size} lines: divide it"
