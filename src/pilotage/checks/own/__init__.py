"""Checks that users write themselves: rules in YAML, expressions in CEL."""
