-- contract
-- The beginning of the question of a run, so that lists name it by that. The table is made anew, for the trace has to
-- stay last. Runs that were written down before have no question.

CREATE TABLE runs_with_questions (
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
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    tokens_counted INTEGER NOT NULL,
    error TEXT,
    trace TEXT NOT NULL
) STRICT;

INSERT INTO runs_with_questions
SELECT number, id, written_at, started_at, status, '', user, tenant, project, user_id, conversation, model, stream,
       workflow, category, first_token_ms, duration_ms, nodes, memories, input_tokens, output_tokens, tokens_counted,
       error, trace
  FROM runs;

DROP TABLE runs;
ALTER TABLE runs_with_questions RENAME TO runs;
