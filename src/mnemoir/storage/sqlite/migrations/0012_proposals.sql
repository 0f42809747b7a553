-- expand
-- Changes of memories that wait for a person's approval, and what a project has reviewed. `state` is what a memory says
-- besides its text. A receipt repeats what its request proposed.

CREATE TABLE proposals (
    scope_id INTEGER NOT NULL REFERENCES scopes (id),
    number INTEGER NOT NULL,
    id TEXT NOT NULL,
    event TEXT NOT NULL CHECK (event IN ('ADD', 'UPDATE', 'DELETE')),
    memory_id TEXT NOT NULL,
    agent TEXT,
    app TEXT,
    conversation TEXT,
    reason TEXT NOT NULL,
    proposed_at REAL NOT NULL,
    at TEXT,
    successor TEXT,
    model TEXT,
    session TEXT,
    source_id INTEGER,
    content_hash BLOB NOT NULL,
    text TEXT NOT NULL,
    previous_text TEXT,
    state TEXT NOT NULL,
    PRIMARY KEY (scope_id, number),
    UNIQUE (scope_id, id)
) STRICT;

CREATE INDEX proposals_by_id ON proposals (id, scope_id);
CREATE INDEX proposals_by_source ON proposals (scope_id, source_id) WHERE source_id IS NOT NULL;
CREATE INDEX proposals_by_age ON proposals (proposed_at, scope_id);

ALTER TABLE receipts ADD COLUMN proposed TEXT;
ALTER TABLE project_settings ADD COLUMN review TEXT;
