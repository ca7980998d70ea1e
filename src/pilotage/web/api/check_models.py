"""The shapes of answers about checks, for the description of the API."""

from __future__ import annotations

from pilotage.web.api.models import Level, Shape


class CitedIncident(Shape):
    """An incident that a check cites."""

    id: str
    title: str | None
    """What happened, one line; null where the library does not hold it."""
    organisation: str | None
    year: str | None
    exact: bool
    """Whether this very gap caused it; else it shows the same mechanism."""


class CheckItem(Shape):
    """A check in a list."""

    id: str
    title: str
    """What is wrong when it fires."""
    family: str
    severity: Level
    documentation_only: bool
    """Whether no public incident is known and it rests on documentation."""
    incidents: list[CitedIncident]
    url: str


class Checks(Shape):
    """A part of the list of checks, worst first."""

    total: int
    items: list[CheckItem]
    next: str | None


class WholeCheck(CheckItem):
    """A check with its page, which is in English."""

    about: list[str]
    """Kinds of objects that it looks at; `*` means whatever there is."""
    needs: list[str]
    """Kinds without which it cannot tell."""
    fix: str
    references: list[str]
    page: dict[str, str]
    """Section of its page and text in Markdown."""
