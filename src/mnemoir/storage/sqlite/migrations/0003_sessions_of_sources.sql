-- expand
-- Whose words a source holds: the session it was said in, so that a conversation can be forgotten with all that was
-- derived from it.

ALTER TABLE sources ADD COLUMN session TEXT;

CREATE INDEX sources_by_session ON sources (scope_id, session) WHERE session IS NOT NULL;
CREATE INDEX history_by_source ON history (source_id) WHERE source_id IS NOT NULL;
