"""`pilotage library validate` and `new`."""

from __future__ import annotations

from pathlib import Path

import click

from pilotage.cli.library.options import App, library_options
from pilotage.cli.output import console, say, say_json
from pilotage.core.counting import counted
from pilotage.core.errors import Conflict, UserError
from pilotage.library.authoring.known import known_slugs
from pilotage.library.authoring.skeleton import skeleton
from pilotage.library.authoring.validation import Problem, validate_paths
from pilotage.library.shipped import bundled_files
from pilotage.library.terms import load_vocabulary


@click.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option("--bundled", is_flag=True, help="Check the records that are shipped with Pilotage.")
@click.option("--links", is_flag=True, help="Related ids must be among the files that are checked.")
@click.option("--editorial", is_flag=True, help="Check the editorial rules of reviewed records as well.")
@library_options
def validate(app: App, files: tuple[Path, ...], bundled: bool, links: bool, editorial: bool) -> int:
    """Check record files and folders: every problem with file, line, key and what to write instead.

    Exit code 1 when there is a problem, for CI. Nothing is stored.

    \b
    Examples:
      pilotage library validate records/
      pilotage library validate my-incident.yaml --editorial
      pilotage library validate --bundled --links --editorial --output json
    """
    if bool(files) == bundled:
        raise click.UsageError("name files or folders to check, or --bundled (one of the two)")
    paths = bundled_files() if bundled else list(files)
    problems = validate_paths(paths, known_slugs(load_vocabulary()), check_links=links, editorial=editorial)
    if app.as_json:
        say_json({"ok": not problems, "problems": [_to_json(problem) for problem in problems]})
    else:
        _say_problems(problems)
    return 1 if problems else 0


def _to_json(problem: Problem) -> dict[str, object]:
    return {
        "file": problem.file,
        "line": problem.line,
        "column": problem.column,
        "key": problem.key,
        "message": problem.message,
        "instead": problem.instead,
    }


def _say_problems(problems: list[Problem]) -> None:
    out = console()
    for problem in problems:
        key = f"{problem.key}: " if problem.key else ""
        say(out, f"{problem.file}:{problem.line}:{problem.column}: {key}{problem.message}", "yellow")
        if problem.instead:
            say(out, problem.instead, "dim", indent=4)
    say(out, counted(len(problems), "problem") if problems else "no problems")


@click.command()
@click.argument("id")
@click.option(
    "--to",
    "target",
    type=click.Path(path_type=Path),
    help="File to write; default: ID.yaml here; - is standard output.",
)
@library_options
def new(app: App, id: str, target: Path | None) -> None:  # noqa: A002 - the word that the user sees
    """Write the skeleton of a record: every key with a comment, to be filled in. Never overwrites a file.

    \b
    Examples:
      pilotage library new acme-2024-05-01-dns-push-emptied-zones
      pilotage library new acme-2024-05-01-dns-push-emptied-zones --to -
    """
    text = skeleton(id)
    if target == Path("-"):
        click.echo(text, nl=False)
        return
    path = target or Path(f"{id}.yaml")
    made = False
    try:
        with path.open("x", encoding="utf-8") as file:
            made = True
            file.write(text)
    except FileExistsError as error:
        raise Conflict(
            f"{path} is there already", hint="Name another file with --to, or move it away."
        ) from error
    except OSError as error:
        hint = "Name a folder that exists and is yours."
        if made:
            # The disk is full: an empty file would only stand in the way of the next try.
            path.unlink(missing_ok=True)
            hint = "Make room and try again, or name another place with --to."
        raise UserError(f"cannot write {path}: {error.strerror}", hint=hint) from error
    if app.as_json:
        say_json({"id": id, "file": str(path)})
    else:
        say(console(), f"wrote {path}; fill it in, then: pilotage library validate {path}")
