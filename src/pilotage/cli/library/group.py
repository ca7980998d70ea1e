"""The group `pilotage library`."""

from __future__ import annotations

import click

from pilotage.cli.lazy import LazyGroup

_AT = "pilotage.cli.library"
COMMANDS = {
    "search": (f"{_AT}.search:search", "Find incidents by words, a pasted log, a question."),
    "show": (f"{_AT}.records:show", "Show one incident."),
    "list": (f"{_AT}.records:list_", "List incidents by facets, newest first."),
    "related": (f"{_AT}.insight:related", "Incidents like this one, each with its reasons."),
    "topic": (f"{_AT}.insight:topic", "What the incidents that share some terms have in common."),
    "vocab": (f"{_AT}.vocab:vocab", "The terms that records are tagged with."),
    "stats": (f"{_AT}.insight:stats", "Counts, co-occurrence, time to resolve."),
    "import": (f"{_AT}.transfer:import_", "Bring records in from files, feeds, post-mortems."),
    "export": (f"{_AT}.transfer:export", "Write records out: JSON, JSONL, CSV, SQLite, zip."),
    "validate": (f"{_AT}.authoring:validate", "Check record files; every problem with its line."),
    "verify": (f"{_AT}.upkeep:verify", "Check a store: records, index, counts, digests."),
    "new": (f"{_AT}.authoring:new", "Write the skeleton of a record."),
    "history": (f"{_AT}.records:history", "The revisions of a record."),
    "evaluate": (f"{_AT}.upkeep:evaluate", "Score the search on graded queries."),
}


@click.group(cls=LazyGroup, commands_at=COMMANDS)
def library() -> None:
    """Incident reports as structured records: search, read, import, export.

    \b
    Examples:
      pilotage library import --bundled
      pilotage library search "502 after deploy, pods terminating"
      pilotage library search "component:coredns year:2019" --output json
      pilotage library related skyscanner-2019-04-23-haproxy-ingress-hot-podding
      pilotage library topic component=ingress root_cause=software-bug
    """
