"""The REST API: one file per part."""
