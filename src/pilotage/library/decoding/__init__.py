"""Strict decoders: JSON and YAML as JSON values, every mistake with its place."""
