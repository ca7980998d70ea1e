"""Corefiles as CoreDNS reads them, with the place of every plugin."""
