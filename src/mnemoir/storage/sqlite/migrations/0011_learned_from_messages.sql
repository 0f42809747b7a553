-- expand
-- Which message the turns of a commit end with, so that a conversation can tell below each of its answers what was
-- learned there. It is computed from the turns, and NULL for turns of no stored conversation.

ALTER TABLE sources ADD COLUMN message_uid TEXT GENERATED ALWAYS AS (
    CASE WHEN json_valid(turns) THEN json_extract(turns, '$[#-1].message_uid') END
) VIRTUAL;

CREATE INDEX sources_by_message ON sources (scope_id, message_uid) WHERE message_uid IS NOT NULL;
