-- Short figures of a run beside its trace, so that a list of runs reads no prompts. The table is made anew, for the trace
-- has to stay last: a column behind it could only be read by going through its overflow pages.
--
-- Of runs that were written down before, the figures are counted in their traces.

CREATE TABLE runs_with_figures (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    written_at REAL NOT NULL,
    started_at TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('running', 'finished', 'failed', 'cancelled')),
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
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    tokens_counted INTEGER NOT NULL,
    error TEXT,
    trace TEXT NOT NULL
) STRICT;

INSERT INTO runs_with_figures
SELECT number, id, written_at, started_at, status, user, tenant, project, scope_user,
       json_extract(known.trace, '$.scope.conversation'), model, coalesce(json_extract(known.trace, '$.stream'), 0),
       workflow, category, json_extract(known.trace, '$.first_token_ms'), duration_ms,
       (SELECT count(*) FROM json_tree(known.trace) WHERE key = 'started_ms'),
       (SELECT count(*) FROM json_tree(known.trace) WHERE type = 'text' AND path LIKE '%].memories'),
       (SELECT coalesce(sum(atom), 0) FROM json_tree(known.trace) WHERE key = 'input_tokens'),
       (SELECT coalesce(sum(atom), 0) FROM json_tree(known.trace) WHERE key = 'output_tokens'),
       EXISTS (SELECT 1 FROM json_tree(known.trace) WHERE key = 'tokens_counted' AND atom),
       error, runs.trace
  FROM runs
  JOIN (SELECT number AS of_run, CASE WHEN json_valid(trace) THEN trace ELSE '{}' END AS trace FROM runs) AS known
    ON of_run = number;

DROP TABLE runs;
ALTER TABLE runs_with_figures RENAME TO runs;
