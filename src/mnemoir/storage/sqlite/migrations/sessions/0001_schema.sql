-- expand
-- Sessions and their messages. The first two tables are those of harombe, column for column, whose files are continued
-- where they are; what is ours comes behind them and may be NULL. Times are ISO 8601 texts of naive UTC.
--
-- Message ids are never given twice: a vector store names its vectors by them. `uid` is unique in all files.
--
-- The tables are those that `mnemoir.db` has for all users, whose keys begin with the number of a scope. Here there is
-- one, 1, and where the keys are those of harombe it stands behind their columns.

CREATE TABLE IF NOT EXISTS sessions (
    id TEXT PRIMARY KEY,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    system_prompt TEXT NOT NULL,
    metadata TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    role TEXT NOT NULL,
    content TEXT,
    tool_calls TEXT,
    tool_call_id TEXT,
    name TEXT,
    created_at TIMESTAMP NOT NULL
);

-- Branches. A message stands behind its parent; 0 is the beginning. One way through the tree, the thread, is what
-- windows and pages read: the rows on it have no off_thread. A child is never older than its parent, so the thread's
-- order is that of time and then of id, and its newest row is the head.
--
-- Rows of other programs have neither parent nor digest: they stand on the thread where their time puts them. They get
-- both when a branch first matters in their session.
ALTER TABLE messages ADD COLUMN parent_id INTEGER;
ALTER TABLE messages ADD COLUMN turn_id TEXT;
ALTER TABLE messages ADD COLUMN token_count INTEGER;
ALTER TABLE messages ADD COLUMN importance REAL;
ALTER TABLE messages ADD COLUMN pinned INTEGER;
ALTER TABLE messages ADD COLUMN files TEXT;
ALTER TABLE messages ADD COLUMN run_id TEXT;
ALTER TABLE messages ADD COLUMN finish_reason TEXT;
ALTER TABLE messages ADD COLUMN digest BLOB; -- of what it says; empty for a system message
ALTER TABLE messages ADD COLUMN off_thread INTEGER; -- 1, or NULL for on it
ALTER TABLE messages ADD COLUMN uid TEXT;
-- What a message costs in a window, as an encrypted text tells nothing. It is NULL for messages of other programs.
ALTER TABLE messages ADD COLUMN estimate INTEGER;
-- What was recalled for the question that a message is: references to memories and messages, never words. NULL before
-- anything was recalled for it.
ALTER TABLE messages ADD COLUMN recalled TEXT;
ALTER TABLE messages ADD COLUMN scope_id INTEGER NOT NULL DEFAULT 1;
ALTER TABLE sessions ADD COLUMN context_after INTEGER; -- windows begin after this message
ALTER TABLE sessions ADD COLUMN summary_claim TEXT; -- who makes the summary now
ALTER TABLE sessions ADD COLUMN summary_claim_until REAL; -- and until when, in seconds since 1970
ALTER TABLE sessions ADD COLUMN context_moved INTEGER; -- counts in place of a context_after that is off the thread
ALTER TABLE sessions ADD COLUMN scope_id INTEGER NOT NULL DEFAULT 1;
CREATE UNIQUE INDEX idx_sessions_scope ON sessions (scope_id, id);

CREATE TABLE summaries (
    scope_id INTEGER NOT NULL DEFAULT 1,
    session_id TEXT NOT NULL,
    upto_message_id INTEGER NOT NULL,
    text TEXT NOT NULL,
    token_count INTEGER NOT NULL,
    model TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    PRIMARY KEY (scope_id, session_id),
    FOREIGN KEY (scope_id, session_id) REFERENCES sessions (scope_id, id) ON DELETE CASCADE
);
-- Outlives its message: as 'removed' it says that a vector may be left behind.
CREATE TABLE embedding_state (
    scope_id INTEGER NOT NULL DEFAULT 1,
    message_id INTEGER NOT NULL,
    model TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'embedded', 'failed', 'removed')),
    attempts INTEGER NOT NULL DEFAULT 0,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (scope_id, message_id)
);
-- For encryption: the key that digests are made with, NULL for bare ones, and the key that all cells are known to be
-- encrypted with; 0 when all are plain, NULL when nobody has looked.
CREATE TABLE sealing (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    hashed_by INTEGER,
    sealed_by INTEGER
);
INSERT INTO sealing (one, hashed_by, sealed_by) VALUES (1, NULL, 0);

-- The data directory that the file belongs to, by the id in its `identity.json`; no row in a file of none. `owner` is
-- whose it is, by the names of its folders; empty for a file that is nobody's.
CREATE TABLE identity (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    directory TEXT NOT NULL,
    owner TEXT NOT NULL
) STRICT;

-- These three are harombe's.
CREATE INDEX IF NOT EXISTS idx_messages_session ON messages (session_id);
CREATE INDEX IF NOT EXISTS idx_messages_created ON messages (created_at);
CREATE INDEX IF NOT EXISTS idx_sessions_updated ON sessions (updated_at);
CREATE UNIQUE INDEX idx_messages_scope ON messages (scope_id, id);
CREATE INDEX idx_sessions_used ON sessions (scope_id, updated_at, id);
-- With what is asked of many rows at a time: in a row it stands behind all of the text.
CREATE INDEX idx_messages_thread
    ON messages (scope_id, session_id, created_at, id, digest, off_thread) WHERE off_thread IS NULL;
CREATE INDEX idx_messages_importance ON messages (scope_id, session_id, importance) WHERE off_thread IS NULL;
CREATE INDEX idx_messages_pinned ON messages (scope_id, session_id) WHERE pinned = 1;
CREATE INDEX idx_messages_off_thread ON messages (scope_id, importance) WHERE off_thread = 1;
CREATE INDEX idx_messages_digest ON messages (scope_id, session_id, digest, parent_id);
CREATE INDEX idx_messages_roots ON messages (scope_id, digest) WHERE parent_id = 0;
CREATE INDEX idx_messages_unlinked ON messages (scope_id, digest, session_id) WHERE digest IS NULL;
-- What stands behind a message is looked up for every message that is shown: where it is more than one, there is a choice.
CREATE INDEX idx_messages_parent ON messages (scope_id, session_id, parent_id);
-- Messages that carry files are few, and are listed without a look at the others.
CREATE INDEX idx_messages_files ON messages (scope_id, id, session_id) WHERE files IS NOT NULL;
CREATE UNIQUE INDEX idx_messages_uid ON messages (scope_id, uid, session_id);
-- With all that is asked of the questions of a session, which stands in the rows behind all of their texts.
CREATE INDEX idx_messages_recalled ON messages (scope_id, session_id, id, uid, recalled) WHERE recalled IS NOT NULL;
CREATE INDEX idx_embedding_removed ON embedding_state (scope_id, message_id) WHERE status = 'removed';

-- For other programs; this one notes it before it deletes.
CREATE TRIGGER IF NOT EXISTS note_removal AFTER DELETE ON messages
BEGIN
    UPDATE embedding_state SET status = 'removed' WHERE message_id = OLD.id AND status <> 'removed';
END;

-- Rows of other programs get their `uid` here.
UPDATE messages SET uid = 'msg_' || lower(hex(randomblob(16)));
CREATE TRIGGER name_message AFTER INSERT ON messages WHEN new.uid IS NULL
BEGIN
    UPDATE messages SET uid = 'msg_' || lower(hex(randomblob(16))) WHERE id = new.id;
END;
