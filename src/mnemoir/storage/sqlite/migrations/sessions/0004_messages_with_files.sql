-- expand
-- Messages that carry files are few, and are listed without a look at the others.

CREATE INDEX idx_messages_files ON messages (id, session_id) WHERE files IS NOT NULL;
