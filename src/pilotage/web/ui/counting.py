"""The statistics page."""

from __future__ import annotations

from pilotage.library.stores.protocol import Filters
from pilotage.web.ui.charts import duration_bars, heat, year_bars
from pilotage.web.ui.incident import duration
from pilotage.web.ui.rendering import View
from pilotage.web.ui.routing import Found
from pilotage.web.ui.searching import state_of

_ROWS = 12
_FACETS = ("component", "root_cause", "contributing", "symptom", "detection", "organisation")
_TERMS = 8


def statistics(view: View) -> Found:
    """The library in numbers: what fails together, when, for how long, and how much of it anyone states.

    Facets narrow it down, as they do its JSON twin.
    """
    catalogue = view.doors.catalogue
    state = state_of(view)
    filters = Filters(all_of=state.terms)
    counted = catalogue.statistics(view.audience, filters)
    matrix = catalogue.matrix("component", "root_cause", view.audience, filters, limit=_ROWS)
    years = {term.slug: term.n for term in counted.facets.get("year", ())}
    return "statistics.html", {
        "state": state,
        "s": counted,
        "matrix": matrix,
        "heats": [
            ("only-wide", heat(matrix, view.lang, narrow=False)),
            ("only-narrow", heat(matrix, view.lang, narrow=True)),
        ],
        "years": years,
        "year_charts": [
            ("only-wide", year_bars(years, width_=520)),
            ("only-narrow", year_bars(years, width_=316)),
        ],
        "durations": [
            (
                found,
                [
                    ("only-wide", duration_bars(found, view.lang, width_=520)),
                    ("only-narrow", duration_bars(found, view.lang, width_=316)),
                ],
            )
            for found in reversed(counted.durations)
        ],
        "duration": lambda seconds: duration(seconds, view.lang),
        "tops": [(facet, counted.facets.get(facet, ())[:_TERMS]) for facet in _FACETS],
    }
