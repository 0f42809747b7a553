-- expand
-- Sessions and their messages. The first two tables are those of harombe, column for column, whose files are continued
-- where they are; what is ours comes behind them and may be NULL. Times are ISO 8601 texts of naive UTC.
--
-- Message ids are never given twice: a vector store names its vectors by them.

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

ALTER TABLE messages ADD COLUMN parent_id INTEGER;
ALTER TABLE messages ADD COLUMN turn_id TEXT;
ALTER TABLE messages ADD COLUMN token_count INTEGER;
ALTER TABLE messages ADD COLUMN importance REAL;
ALTER TABLE messages ADD COLUMN pinned INTEGER;
ALTER TABLE messages ADD COLUMN files TEXT;
ALTER TABLE sessions ADD COLUMN context_after INTEGER; -- windows begin after this message
ALTER TABLE sessions ADD COLUMN summary_claim TEXT; -- who makes the summary now
ALTER TABLE sessions ADD COLUMN summary_claim_until REAL; -- and until when, in seconds since 1970

CREATE TABLE IF NOT EXISTS summaries (
    session_id TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    upto_message_id INTEGER NOT NULL,
    text TEXT NOT NULL,
    token_count INTEGER NOT NULL,
    model TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL
);
-- Outlives its message: as 'removed' it says that a vector may be left behind.
CREATE TABLE IF NOT EXISTS embedding_state (
    message_id INTEGER PRIMARY KEY,
    model TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'embedded', 'failed', 'removed')),
    attempts INTEGER NOT NULL DEFAULT 0,
    updated_at TIMESTAMP NOT NULL
);

CREATE INDEX IF NOT EXISTS idx_messages_session ON messages (session_id);
CREATE INDEX IF NOT EXISTS idx_messages_created ON messages (created_at);
CREATE INDEX IF NOT EXISTS idx_sessions_updated ON sessions (updated_at);
CREATE INDEX IF NOT EXISTS idx_messages_order ON messages (session_id, created_at, id);
CREATE INDEX IF NOT EXISTS idx_messages_importance ON messages (session_id, importance);
CREATE INDEX IF NOT EXISTS idx_messages_pinned ON messages (session_id) WHERE pinned = 1;
CREATE INDEX IF NOT EXISTS idx_embedding_removed ON embedding_state (message_id) WHERE status = 'removed';

CREATE TRIGGER IF NOT EXISTS note_removal AFTER DELETE ON messages
BEGIN
    UPDATE embedding_state SET status = 'removed' WHERE message_id = OLD.id;
END;
