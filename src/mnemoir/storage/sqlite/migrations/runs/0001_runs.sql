-- expand
-- The last runs, in a file of their own: a burst of traces never holds up the writer of memories.
--
-- `number` is the order in which runs began, whatever the clock said; `written_at` is seconds since 1970, for the age.
-- The trace stands last, so that reading the narrow columns of many rows leaves its overflow pages alone. There are no
-- further indexes: rows come and go with every request, and few questions over a thousand of them can do without.

CREATE TABLE runs (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    tenant TEXT NOT NULL,
    project TEXT NOT NULL,
    scope_user TEXT NOT NULL,
    written_at REAL NOT NULL,
    started_at TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('running', 'finished', 'failed', 'cancelled')),
    user TEXT NOT NULL,
    model TEXT NOT NULL,
    workflow TEXT NOT NULL,
    category TEXT,
    duration_ms REAL,
    error TEXT,
    trace TEXT NOT NULL
) STRICT;
