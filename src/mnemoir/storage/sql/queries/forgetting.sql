-- text: agent, app, conversation, id, key, session
-- integer: number

-- name: said
-- Every event that came from what was said in a session, with the text it gave; by indexes sources_by_session and
-- history_by_source.
SELECT memory_id, new_text, number FROM history
 WHERE scope_id = :scope_id
   AND source_id IN (SELECT id FROM sources WHERE scope_id = :scope_id AND session = :session);

-- name: copied
-- Every event that gave a memory a text that it or another had before; by looking at all of the scope.
SELECT number, memory_id, old_text, new_text FROM history
 WHERE scope_id = :scope_id AND reason IN ('merged', 'restored', 'undone');

-- name: texts_given
-- Every text that a memory got, the last one first, with why it got it and where that was said; by index
-- history_of_memory.
SELECT event.new_text, event.reason, source.session, event.number
  FROM history AS event LEFT JOIN sources AS source
    ON source.scope_id = event.scope_id AND source.id = event.source_id
 WHERE event.scope_id = :scope_id AND event.memory_id = :id AND event.new_text IS NOT NULL
 ORDER BY event.number DESC;

-- name: metadata
-- The metadata of all memories of a scope that have any, unsorted.
SELECT id, metadata, seq FROM memories WHERE scope_id = :scope_id AND metadata IS NOT NULL;

-- name: earlier_states
-- What the memories of a scope were besides their texts before they were changed or removed, removals first.
SELECT memory_id, event = 'DELETE', state, number FROM history
 WHERE scope_id = :scope_id AND state IS NOT NULL ORDER BY event;

-- name: drop_history_of
-- Delete the history of one memory.
DELETE FROM history WHERE scope_id = :scope_id AND memory_id = :id;

-- name: drop_history_from
-- The events of one memory that came from a session, and what later events quote of its earlier texts.
DELETE FROM history
 WHERE scope_id = :scope_id AND memory_id = :id
   AND source_id IN (SELECT id FROM sources WHERE scope_id = :scope_id AND session = :session);

-- name: drop_event
-- One event.
DELETE FROM history WHERE scope_id = :scope_id AND number = :number;

-- name: drop_old_texts_of
-- What later events of a memory quote of its earlier texts, with all that it was before them.
UPDATE history SET old_text = NULL, state = NULL, left_hash = NULL WHERE scope_id = :scope_id AND memory_id = :id;

-- name: drop_past_of
-- The closed states that a memory replaced, directly or through others; by index memories_by_successor.
DELETE FROM memories WHERE scope_id = :scope_id AND seq IN (
    WITH RECURSIVE past (seq, id) AS (
        SELECT seq, id FROM memories WHERE scope_id = :scope_id AND replaced_by = :id AND valid_to IS NOT NULL
        UNION
        SELECT m.seq, m.id FROM past JOIN memories AS m ON m.replaced_by = past.id AND m.scope_id = :scope_id
         WHERE m.valid_to IS NOT NULL
    )
    SELECT seq FROM past
);

-- name: unsource
-- Detach all events from the turns of a session.
UPDATE history SET source_id = NULL
 WHERE scope_id = :scope_id
   AND source_id IN (SELECT id FROM sources WHERE scope_id = :scope_id AND session = :session);

-- name: drop_sources
-- Delete the turns of a session.
DELETE FROM sources WHERE scope_id = :scope_id AND session = :session;

-- name: receipts
-- All answers that were given to a user, which are those of one day.
SELECT key, applied FROM receipts WHERE scope_id = :scope_id;

-- name: drop_proposing_receipts
-- All answers that quote proposals, which may be settled by now.
DELETE FROM receipts WHERE scope_id = :scope_id AND proposed IS NOT NULL;

-- name: drop_receipt
-- Delete one answer.
DELETE FROM receipts WHERE scope_id = :scope_id AND key = :key;

-- name: erase_history
-- Delete the history of a scope's memories.
DELETE FROM history
 WHERE scope_id = :scope_id
   AND (:agent IS NULL OR agent = :agent) AND (:app IS NULL OR app = :app)
   AND (:conversation IS NULL OR conversation = :conversation);

-- name: erase_sources
-- Delete the turns of no event and no proposal; by indexes history_by_source and proposals_by_source.
DELETE FROM sources
 WHERE scope_id = :scope_id
   AND NOT EXISTS (SELECT 1 FROM history WHERE scope_id = :scope_id AND source_id = sources.id)
   AND NOT EXISTS (SELECT 1 FROM proposals WHERE scope_id = :scope_id AND source_id = sources.id);

-- name: erase_receipts
-- All answers that were given to a user.
DELETE FROM receipts WHERE scope_id = :scope_id;
