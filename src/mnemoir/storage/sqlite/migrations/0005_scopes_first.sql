-- contract
-- The key of every row of a user begins with the number of that user's scope, and `seq` counts within the scope. Words
-- and vector of a current memory are one row of `entries`. Memories keep the numbers they have.

ALTER TABLE scopes ADD COLUMN next_seq INTEGER NOT NULL DEFAULT 1;

UPDATE scopes SET next_seq = 1 + taken.last
  FROM (SELECT scope_id, max(seq) AS last FROM memories GROUP BY scope_id) AS taken
 WHERE taken.scope_id = scopes.id;

CREATE TABLE memories_of_scopes (
    scope_id INTEGER NOT NULL REFERENCES scopes (id),
    seq INTEGER NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('fact', 'message')),
    change INTEGER NOT NULL,
    agent TEXT,
    app TEXT,
    conversation TEXT,
    role TEXT,
    speaker TEXT,
    said_at REAL,
    effective_at REAL,
    expires_at REAL,
    valid_from REAL,
    valid_until REAL,
    content_hash BLOB NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT,
    expires_on TEXT,
    valid_to TEXT,
    replaced_by TEXT,
    text TEXT NOT NULL,
    metadata TEXT,
    extra TEXT,
    PRIMARY KEY (scope_id, seq),
    UNIQUE (id, scope_id)
) STRICT;

INSERT INTO memories_of_scopes
SELECT scope_id, seq, id, kind, change, agent, app, conversation, role, speaker, said_at, effective_at, expires_at,
       valid_from, valid_until, content_hash, created_at, updated_at, expires_on, valid_to, replaced_by, text, metadata,
       extra
  FROM memories ORDER BY seq;

CREATE TABLE entries (
    scope_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    terms BLOB NOT NULL,
    model TEXT,
    vector BLOB,
    token_ids BLOB,
    PRIMARY KEY (scope_id, seq),
    FOREIGN KEY (scope_id, seq) REFERENCES memories_of_scopes (scope_id, seq) ON DELETE CASCADE
) STRICT;

INSERT INTO entries
SELECT m.scope_id, m.seq, w.terms, e.model, e.vector, e.token_ids
  FROM word_index AS w CROSS JOIN memories AS m ON m.seq = w.seq LEFT JOIN embeddings AS e ON e.seq = w.seq
 ORDER BY w.seq;

-- Apart from the vectors: they are the bulk, and read for a few hundred candidates at a time.
CREATE TABLE codes (
    scope_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    codes BLOB NOT NULL,
    PRIMARY KEY (scope_id, seq),
    FOREIGN KEY (scope_id, seq) REFERENCES memories_of_scopes (scope_id, seq) ON DELETE CASCADE
) STRICT;

INSERT INTO codes
SELECT m.scope_id, m.seq, c.codes FROM token_codes AS c CROSS JOIN memories AS m ON m.seq = c.seq ORDER BY c.seq;

DROP TABLE token_codes;
DROP TABLE embeddings;
DROP TABLE word_index;
DROP TABLE memories;
ALTER TABLE memories_of_scopes RENAME TO memories;

CREATE UNIQUE INDEX one_current_fact_of_a_text
    ON memories (scope_id, content_hash, coalesce(agent, ''), coalesce(app, ''), coalesce(conversation, ''))
    WHERE kind = 'fact' AND valid_to IS NULL;
CREATE INDEX memories_by_age ON memories (scope_id, said_at, id); -- closed states too, for looks into the past
CREATE INDEX memories_by_change ON memories (scope_id, change, seq) WHERE valid_to IS NULL;
CREATE INDEX messages_of_conversation
    ON memories (scope_id, conversation, seq) WHERE kind = 'message' AND valid_to IS NULL;
CREATE INDEX memories_by_successor ON memories (scope_id, replaced_by) WHERE replaced_by IS NOT NULL;
CREATE INDEX entries_by_model ON entries (model, scope_id, seq); -- what waits for a vector

CREATE INDEX sources_of_scope ON sources (scope_id);
DROP INDEX history_by_source;
CREATE INDEX history_by_source ON history (scope_id, source_id) WHERE source_id IS NOT NULL;
