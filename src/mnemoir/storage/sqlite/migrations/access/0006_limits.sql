-- expand
-- Quotas that one tenant, or one key, has in place of those of the settings; `limits` is a JSON object.

CREATE TABLE limits (
    kind TEXT NOT NULL CHECK (kind IN ('tenant', 'key')),
    name TEXT NOT NULL,
    limits TEXT NOT NULL,
    PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;
