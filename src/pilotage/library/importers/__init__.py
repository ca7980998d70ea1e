"""Importers: one file per format, each turning what others wrote into candidate records."""
