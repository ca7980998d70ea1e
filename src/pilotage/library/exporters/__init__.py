"""Exporters: the records in forms that other programs open."""
