"""The MCP server within the app."""

from __future__ import annotations

from fastapi import FastAPI


def install_mcp(app: FastAPI) -> None:
    """Adds `/mcp` to the app; its session manager runs as long as the app does."""
