"""The REST API of the library."""

from __future__ import annotations

from fastapi import FastAPI


def install_api(app: FastAPI) -> None:
    """Adds the routes of the library to the app."""
