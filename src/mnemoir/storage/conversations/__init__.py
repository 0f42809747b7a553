"""Sessions in an SQLite file that several processes may share."""
