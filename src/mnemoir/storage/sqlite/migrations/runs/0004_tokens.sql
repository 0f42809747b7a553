-- expand
-- The tokens of each user's runs by day, which outlive the runs. Those of runs that were written down before are counted.

CREATE TABLE tokens (
    day TEXT NOT NULL,
    tenant TEXT NOT NULL,
    project TEXT NOT NULL,
    user_id TEXT NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    PRIMARY KEY (day, tenant, project, user_id)
) STRICT, WITHOUT ROWID;

INSERT INTO tokens
SELECT substr(started_at, 1, 10), tenant, project, user_id, sum(input_tokens), sum(output_tokens)
  FROM runs WHERE input_tokens > 0 OR output_tokens > 0 GROUP BY 1, 2, 3, 4;
