"""PostgreSQL: the schema of each database, with the tables, columns and keys that the SQLite files have."""
