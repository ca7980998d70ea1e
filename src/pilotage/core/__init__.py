"""Errors, settings, logs and text: what every part stands on. Imports nothing of ours."""
