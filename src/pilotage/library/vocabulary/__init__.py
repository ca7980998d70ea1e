"""Data files of the controlled vocabulary, one per kind, and what is made of them.

`compiling` makes one JSON file of them, which `pilotage.library.terms` reads.
"""
