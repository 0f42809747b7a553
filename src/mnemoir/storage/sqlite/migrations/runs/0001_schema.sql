-- expand
-- The last runs, in a file of their own: a burst of traces never holds up the writer of memories.
--
-- `number` is the order in which runs began, whatever the clock said; `written_at` is seconds since 1970, for the age.
-- Short figures of a run stand beside its trace, so that a list of runs reads no prompts. The trace stands last, so that
-- reading the narrow columns of many rows leaves its overflow pages alone. There are no further indexes: rows come and
-- go with every request, and few questions over a thousand of them can do without.

CREATE TABLE runs (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    written_at REAL NOT NULL,
    started_at TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('running', 'finished', 'failed', 'cancelled')),
    question TEXT NOT NULL,
    user TEXT NOT NULL,
    tenant TEXT NOT NULL,
    project TEXT NOT NULL,
    user_id TEXT NOT NULL,
    conversation TEXT,
    model TEXT NOT NULL,
    stream INTEGER NOT NULL,
    workflow TEXT NOT NULL,
    category TEXT,
    first_token_ms REAL,
    duration_ms REAL,
    nodes INTEGER NOT NULL,
    memories INTEGER NOT NULL,
    standing INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    tokens_counted INTEGER NOT NULL,
    error TEXT,
    worker TEXT NOT NULL,
    trace TEXT NOT NULL
) STRICT;

-- The processes that have runs under way, by the name in `runs.worker`, and until when they are known to work, in
-- seconds since 1970. The file that each holds tells it sooner to those who see it.
CREATE TABLE workers (
    name TEXT PRIMARY KEY,
    until REAL NOT NULL
) STRICT, WITHOUT ROWID;

-- The tokens of each user's runs by day, which outlive the runs.
CREATE TABLE tokens (
    day TEXT NOT NULL,
    tenant TEXT NOT NULL,
    project TEXT NOT NULL,
    user_id TEXT NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    PRIMARY KEY (day, tenant, project, user_id)
) STRICT, WITHOUT ROWID;
