"""The repository as the meta tests see it."""

from __future__ import annotations

import ast
import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "pilotage"
BUILT = {".git", ".venv", "build", "dist", "__pycache__", ".hypothesis", "node_modules"}
"""Folders that hold nothing of ours."""


def python_files(folder: Path = SOURCE) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def files() -> Iterator[Path]:
    """Every file of the repository but what is built (as `.gitignore` has it)."""
    for folder, names, found in os.walk(ROOT):
        names[:] = [
            name for name in sorted(names) if name not in BUILT and not name.endswith((".egg-info", "_cache"))
        ]
        yield from (Path(folder) / name for name in sorted(found))


def text_of(path: Path) -> str | None:
    """The text of a file; None when it is no text."""
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError:
        return None


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), filename=str(path))


def generator() -> ModuleType:
    """The script `docs/generate.py` as a module."""
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
