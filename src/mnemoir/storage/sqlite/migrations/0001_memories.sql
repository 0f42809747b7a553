-- expand
-- Memories with what belongs to them, what happened to them, background work and the settings of projects.
--
-- Times stand twice: as text, exactly as they came, and as seconds since 1970 for comparing; there NULL means that
-- the text is missing or no time. A memory whose valid_to is NULL is current; the others are closed states, kept for
-- looks into the past only: they have no place in word_index, embeddings and token_codes. Wide columns stand last, so
-- that reading the narrow ones of many rows leaves their overflow pages alone.

CREATE TABLE scopes (
    id INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    project TEXT NOT NULL,
    user TEXT NOT NULL,
    changes INTEGER NOT NULL DEFAULT 0,
    removals INTEGER NOT NULL DEFAULT 0,
    UNIQUE (tenant, project, user)
) STRICT;

CREATE TABLE memories (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    scope_id INTEGER NOT NULL REFERENCES scopes (id),
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
    UNIQUE (id, scope_id)
) STRICT;

CREATE UNIQUE INDEX one_current_fact_of_a_text
    ON memories (scope_id, content_hash, coalesce(agent, ''), coalesce(app, ''), coalesce(conversation, ''))
    WHERE kind = 'fact' AND valid_to IS NULL;
CREATE INDEX memories_by_age ON memories (scope_id, said_at, id); -- closed states too, for looks into the past
CREATE INDEX memories_by_change ON memories (scope_id, change) WHERE valid_to IS NULL;
CREATE INDEX messages_of_conversation
    ON memories (scope_id, conversation) WHERE kind = 'message' AND valid_to IS NULL;
CREATE INDEX memories_by_successor ON memories (scope_id, replaced_by) WHERE replaced_by IS NOT NULL;

CREATE TABLE word_index (
    seq INTEGER PRIMARY KEY REFERENCES memories (seq) ON DELETE CASCADE,
    terms BLOB NOT NULL
) STRICT;

CREATE TABLE embeddings (
    seq INTEGER PRIMARY KEY REFERENCES memories (seq) ON DELETE CASCADE,
    model TEXT,
    vector BLOB,
    token_ids BLOB
) STRICT;

CREATE INDEX embeddings_by_model ON embeddings (model);

-- Apart from the vectors: they are the bulk, and read for a few hundred candidates at a time.
CREATE TABLE token_codes (
    seq INTEGER PRIMARY KEY REFERENCES memories (seq) ON DELETE CASCADE,
    codes BLOB NOT NULL
) STRICT;

CREATE TABLE sources (
    id INTEGER PRIMARY KEY,
    scope_id INTEGER NOT NULL REFERENCES scopes (id),
    turns TEXT NOT NULL
) STRICT;

-- Outlives the memory it tells of.
CREATE TABLE history (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    scope_id INTEGER NOT NULL REFERENCES scopes (id),
    memory_id TEXT NOT NULL,
    agent TEXT,
    app TEXT,
    conversation TEXT,
    event TEXT NOT NULL CHECK (event IN ('ADD', 'UPDATE', 'DELETE')),
    at TEXT NOT NULL,
    reason TEXT NOT NULL,
    model TEXT,
    source_id INTEGER REFERENCES sources (id),
    old_text TEXT,
    new_text TEXT
) STRICT;

CREATE INDEX history_of_memory ON history (scope_id, memory_id);

CREATE TABLE receipts (
    scope_id INTEGER NOT NULL REFERENCES scopes (id),
    key TEXT NOT NULL,
    request_hash TEXT NOT NULL,
    reason TEXT NOT NULL,
    given_at REAL NOT NULL,
    applied TEXT NOT NULL,
    PRIMARY KEY (scope_id, key)
) STRICT;

CREATE INDEX receipts_by_age ON receipts (given_at);

CREATE TABLE jobs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    queue TEXT NOT NULL,  -- jobs of one queue run one after the other; '' for none
    state TEXT NOT NULL CHECK (state IN ('PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED')),
    attempts INTEGER NOT NULL DEFAULT 0,
    due_at REAL NOT NULL,
    ended_at REAL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    error TEXT,
    payload TEXT NOT NULL,
    result TEXT
) STRICT;

CREATE INDEX jobs_waiting ON jobs (number, due_at) WHERE state = 'PENDING';
CREATE INDEX jobs_in_queue ON jobs (queue, number) WHERE ended_at IS NULL;
CREATE INDEX jobs_running ON jobs (number) WHERE state = 'RUNNING';
CREATE INDEX jobs_ended ON jobs (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE project_settings (
    tenant TEXT NOT NULL,
    project TEXT NOT NULL,
    memory_enabled INTEGER,
    decay_days REAL,
    search_limit INTEGER,
    extraction_prompt TEXT,
    PRIMARY KEY (tenant, project)
) STRICT;
