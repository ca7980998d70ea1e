"""Where records are kept: one `Protocol`, two stores (one SQLite file, a PostgreSQL server)."""
