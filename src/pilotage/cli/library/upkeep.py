"""`pilotage library verify` and `evaluate`."""

from __future__ import annotations

from pathlib import Path

import click

from pilotage.cli.library.options import App, library_options
from pilotage.cli.library.progress import count_bar
from pilotage.cli.output import console, say, say_json
from pilotage.core.counting import counted
from pilotage.library.evaluation import Evaluation, Summary, read_graded
from pilotage.library.evaluation import evaluate as score
from pilotage.library.stores.protocol import Filters


@click.command()
@library_options
def verify(app: App) -> int:
    """Check a store: file, records, revisions, tags, index and counts against each other.

    Exit code 1 when something is wrong. Private records are checked too; the number of records counts them
    only with --include-private.

    \b
    Examples:
      pilotage library verify
      pilotage library verify --store postgresql://localhost/pilotage --output json
    """
    with app.store() as store:
        problems = store.verify()
        count = store.count(Filters(withdrawn=True), app.audience)
    if app.as_json:
        say_json({"ok": not problems, "records": count, "problems": problems})
    else:
        for problem in problems:
            say(console(), problem, "red")
        state = counted(len(problems), "problem") if problems else "all is well"
        say(console(), f"{counted(count, 'record')}: {state}")
    return 1 if problems else 0


@click.command()
@click.argument("queries", type=click.Path(path_type=Path))
@click.option(
    "--worst",
    type=click.IntRange(0, 1000),
    default=10,
    show_default=True,
    help="Number of worst queries to list.",
)
@click.option("--no-semantic", is_flag=True, help="Score the answers from words alone.")
@library_options
def evaluate(app: App, queries: Path, worst: int, no_semantic: bool) -> None:
    """Score the search on graded queries: nDCG@10, MRR, recall@10, refusals; by language and kind.

    QUERIES is JSON Lines: {"query": "…", "lang": "en", "relevant": {"ID, alias or source address": grade},
    "kind": "…"}; an empty "relevant" means that "no good match" is the right answer.

    \b
    Examples:
      pilotage library evaluate tests/graded/held-out.jsonl
      pilotage library evaluate mine.jsonl --no-semantic --output json
    """
    graded = read_graded(queries)
    with (
        app.catalogue(semantic=not no_semantic) as catalogue,
        count_bar("evaluating", len(graded)) as progress,
    ):
        result = score(catalogue.searcher, graded, audience=app.audience, progress=progress)
    if app.as_json:
        say_json(result.to_json(worst))
    else:
        _say_evaluation(result, worst)
    for line in result.unknown:
        click.echo(f"pilotage: {line}", err=True)


def _say_evaluation(result: Evaluation, worst: int) -> None:
    out = console()
    columns = f"{'queries':>8} {'nDCG@10':>8} {'MRR':>8} {'recall@10':>10}"
    say(out, f"{'':<24} {columns} {'refused right':>14} {'refused wrong':>14}", "bold")
    rows = [("all", result.overall), *result.by_lang.items(), *result.by_kind.items()]
    for name, summary in rows:
        say(out, _row(name, summary))
    for item in result.worst(worst):
        wanted = ", ".join(item.missed) or "found, too low"
        if not item.graded.relevant:
            wanted = "should have been refused"
        state = "refused" if item.refused else ", ".join(item.found[:3])
        say(out, f"{item.ndcg:.2f} [{item.graded.lang}] {item.graded.query[:120]!r}", "yellow")
        say(out, f"got: {state}", "dim", indent=5)
        say(out, f"wanted: {wanted} (confidence {item.confidence:.2f})", "dim", indent=5)


def _row(name: str, summary: Summary) -> str:
    def shown(value: float | None) -> str:
        return "-" if value is None else f"{value:.3f}"

    return (
        f"{name:<24} {summary.answerable + summary.unanswerable:>8} {shown(summary.ndcg):>8}"
        f" {shown(summary.mrr):>8} {shown(summary.recall):>10} {shown(summary.correct_refusals):>14}"
        f" {shown(summary.wrong_refusals):>14}"
    )
