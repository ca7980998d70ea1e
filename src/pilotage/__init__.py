"""Pilotage: public incident reports as things that run."""
