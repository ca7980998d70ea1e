"""Data files of the controlled vocabulary, one per kind; `pilotage.library.terms` reads them."""
