-- contract
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
SELECT number, id, written_at, started_at, status, user, tenant, project, scope_user, conversation, model, stream,
       workflow, category, first_token_ms, duration_ms, nodes, memories, input_tokens, output_tokens, tokens_counted,
       error, trace
  FROM runs
  JOIN (SELECT number AS of_run,
               max(atom) FILTER (WHERE key = 'conversation' AND path = '$.scope') AS conversation,
               coalesce(max(atom) FILTER (WHERE key = 'stream' AND path = '$'), 0) AS stream,
               max(atom) FILTER (WHERE key = 'first_token_ms' AND path = '$') AS first_token_ms,
               count(*) FILTER (WHERE key = 'started_ms') AS nodes,
               count(*) FILTER (WHERE type = 'text' AND path LIKE '%].memories') AS memories,
               coalesce(sum(atom) FILTER (WHERE key = 'input_tokens'), 0) AS input_tokens,
               coalesce(sum(atom) FILTER (WHERE key = 'output_tokens'), 0) AS output_tokens,
               coalesce(max(atom) FILTER (WHERE key = 'tokens_counted'), 0) AS tokens_counted
          FROM (SELECT number, CASE WHEN json_valid(trace) THEN trace ELSE '{}' END AS known FROM runs)
          JOIN json_tree(known)
         GROUP BY number)
    ON of_run = number;

DROP TABLE runs;
ALTER TABLE runs_with_figures RENAME TO runs;
