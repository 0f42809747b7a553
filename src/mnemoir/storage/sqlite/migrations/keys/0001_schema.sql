-- expand
-- The keys that cells are encrypted with: for each user of a project one after the other, and for the server itself.
-- `wrapped` is the key encrypted by the key of the provider that `kek` names; NULL for a key that was destroyed, which
-- has a name in place of its user's. Ids are random, so that those of a store that was lost are not given again.

CREATE TABLE data_keys (
    id INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    project TEXT NOT NULL,
    user TEXT NOT NULL,
    number INTEGER NOT NULL,
    kek TEXT NOT NULL,
    wrapped BLOB,
    made_at TEXT NOT NULL,
    destroyed_at TEXT,
    UNIQUE (tenant, project, user, number)
) STRICT;

-- One more with each change of what is known by `subject`, so that other programs notice it.
CREATE TABLE versions (
    subject TEXT PRIMARY KEY,
    number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
