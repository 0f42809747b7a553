-- expand
-- What stands behind a message is looked up for every message that is shown: where it is more than one, there is a choice.

CREATE INDEX idx_messages_parent ON messages (session_id, parent_id);
