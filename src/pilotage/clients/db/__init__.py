"""The thin doors to databases: they open connections, run statements and translate the drivers' errors."""
