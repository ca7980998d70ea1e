"""Options that every library command shares, and what they open."""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from pilotage.core.settings import Settings, load
from pilotage.library.embedding import installed, load_embedder
from pilotage.library.languages import Lang
from pilotage.library.stores.opening import open_store
from pilotage.library.stores.protocol import Audience, Store

if TYPE_CHECKING:
    from pilotage.library.catalogue import Catalogue

_Command = TypeVar("_Command", bound=Callable[..., Any])


@dataclass(frozen=True)
class App:
    """What a command needs to answer.

    Attributes:
        settings: the settings in force.
        lang: language of the answer.
        as_json: whether the answer is JSON.
        audience: whose records it shows.
    """

    settings: Settings
    lang: Lang
    as_json: bool
    audience: Audience

    @contextmanager
    def store(self, *, create: bool = False) -> Iterator[Store]:
        """The store, open."""
        opened = open_store(
            self.settings.store.url, busy_seconds=self.settings.store.busy_seconds, create=create
        )
        try:
            yield opened
        finally:
            opened.close()

    @contextmanager
    def catalogue(self, *, semantic: bool = False) -> Iterator[Catalogue]:
        """The answers over the store, with likeness of meaning where asked for, wanted and installed."""
        with self.store() as store:
            wanted = semantic and self.settings.library.semantic and installed()
            # Search, relations and topics: what only looks into the store or the vocabulary starts without.
            catalogue = importlib.import_module("pilotage.library.catalogue")
            yield catalogue.Catalogue(store, load_embedder() if wanted else None)


def library_options(command: _Command) -> _Command:
    """Adds `--store`, `--output`, `--lang` and `--include-private`; the command gets an `App` as `app`."""

    @functools.wraps(command)
    def with_app(
        *args: Any,
        store_url: str | None,
        output: str,
        lang: str | None,
        include_private: bool | None,
        **kwargs: Any,
    ) -> Any:
        app = make_app(store_url, output, lang, include_private=include_private)
        return command(*args, app=app, **kwargs)

    decorated: Any = with_app
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return cast("_Command", decorated)


cursor_option = click.option("--cursor", metavar="CURSOR", help="Go on there: `next` of the part before.")
"""What every list in parts takes."""
facet_option = click.option(
    "-f",
    "--facet",
    multiple=True,
    metavar="FACET=VALUE",
    help="Only records that bear this term; repeat as needed.",
)


def term_arguments(command: _Command) -> _Command:
    """Adds `FACET=VALUE` arguments and `-f`, which mean the same; the command gets both as `facet`."""

    @functools.wraps(command)
    def with_terms(*args: Any, terms: tuple[str, ...], facet: tuple[str, ...], **kwargs: Any) -> Any:
        return command(*args, facet=(*terms, *facet), **kwargs)

    argument = click.argument("terms", nargs=-1, metavar="[FACET=VALUE]...")
    return cast("_Command", argument(facet_option(with_terms)))


_OPTIONS = (
    click.option(
        "--store",
        "store_url",
        metavar="URL",
        help="Store: a path, sqlite:///PATH or a postgresql:// address.",
    ),
    click.option(
        "-o",
        "--output",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        help="Form of the answer.",
    ),
    click.option(
        "--lang", type=click.Choice(["en", "ko"]), help="Language of the answer; default: that of the locale."
    ),
    click.option("--include-private", is_flag=True, default=None, help="Show private records too."),
)


def make_app(
    store_url: str | None, output: str, lang: str | None, *, include_private: bool | None = None
) -> App:
    """The `App` of the shared options; unset ones come from the settings."""
    overrides: dict[str, Any] = {}
    if store_url is not None:
        overrides["store"] = {"url": store_url}
    if include_private:
        overrides["library"] = {"include_private": True}
    if lang:
        overrides["lang"] = lang
    settings = load(overrides)
    return App(
        settings=settings,
        lang=_language(settings.lang),
        as_json=output == "json",
        audience="all" if settings.library.include_private else "public",
    )


def _language(wanted: str) -> Lang:
    if wanted in {"en", "ko"}:
        return "ko" if wanted == "ko" else "en"
    # As gettext does; `setlocale` would know only the locales that happen to be installed.
    spoken = next(
        (value for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := os.environ.get(name))), ""
    )
    return "ko" if spoken.startswith("ko") else "en"
