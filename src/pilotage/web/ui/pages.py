"""The pages."""

from __future__ import annotations

from fastapi import FastAPI


def install_pages(app: FastAPI) -> None:
    """Adds the pages and their static files to the app."""
