-- expand
-- Tokens that models took for each user, by UTC day. What users store is counted where it is stored.

CREATE TABLE usage (
    tenant TEXT NOT NULL,
    user TEXT NOT NULL,
    what TEXT NOT NULL CHECK (what IN ('input_tokens', 'output_tokens')),
    day TEXT NOT NULL,
    amount INTEGER NOT NULL,
    PRIMARY KEY (tenant, user, what, day)
) STRICT, WITHOUT ROWID;

CREATE INDEX usage_by_day ON usage (day);
