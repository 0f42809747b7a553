-- expand
-- Branches. A message stands behind its parent; 0 is the beginning. One way through the tree, the thread, is what
-- windows and pages read: the rows on it have no off_thread. A child is never older than its parent, so the thread's
-- order is that of time and then of id, and its newest row is the head.
--
-- Rows of before and of other programs have neither parent nor digest: they stand on the thread where their time puts
-- them. They get both when a branch first matters in their session.

ALTER TABLE messages ADD COLUMN run_id TEXT;
ALTER TABLE messages ADD COLUMN finish_reason TEXT;
ALTER TABLE messages ADD COLUMN digest BLOB; -- of what it says; empty for a system message
ALTER TABLE messages ADD COLUMN off_thread INTEGER; -- 1, or NULL for on it
ALTER TABLE sessions ADD COLUMN context_moved INTEGER; -- counts in place of a context_after that is off the thread

DROP INDEX IF EXISTS idx_messages_order;
DROP INDEX IF EXISTS idx_messages_importance;
-- With what is asked of many rows at a time: in a row it stands behind all of the text.
CREATE INDEX idx_messages_thread ON messages (session_id, created_at, id, digest, off_thread) WHERE off_thread IS NULL;
CREATE INDEX idx_messages_importance ON messages (session_id, importance) WHERE off_thread IS NULL;
CREATE INDEX idx_messages_off_thread ON messages (importance) WHERE off_thread = 1;
CREATE INDEX idx_messages_digest ON messages (session_id, digest, parent_id);
CREATE INDEX idx_messages_roots ON messages (digest) WHERE parent_id = 0;
CREATE INDEX idx_messages_unlinked ON messages (digest, session_id) WHERE digest IS NULL;
