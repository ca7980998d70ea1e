"""Checks that users write themselves: in YAML, expressions in CEL."""
