"""How artifacts are kept: objects in an object store, rows in PostgreSQL, and what keeps the two together."""
