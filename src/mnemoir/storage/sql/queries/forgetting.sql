-- name: derived
-- Every memory that was made or changed by what was said in a session, with 1 where nobody else ever gave it the text
-- it got last: by indexes sources_by_session, history_by_source and history_of_memory. Taking a memory back, joining
-- it with another and saying that it still holds give it no text; who is joined with a memory of the session and gets
-- its very text has it from there.
WITH of_session (source_id) AS (
    SELECT id FROM sources WHERE scope_id = :scope_id AND session = :session
), touched (id) AS (
    SELECT memory_id FROM history WHERE scope_id = :scope_id AND source_id IN of_session
    UNION
    SELECT memory_id FROM history
     WHERE scope_id = :scope_id AND reason = 'merged' AND new_text IS NOT old_text
       AND new_text IN (SELECT new_text FROM history WHERE scope_id = :scope_id AND source_id IN of_session)
), present (id, text) AS (
    SELECT id, (SELECT new_text FROM history
                 WHERE scope_id = :scope_id AND memory_id = touched.id AND new_text IS NOT NULL
                 ORDER BY number DESC LIMIT 1)
      FROM touched
)
SELECT present.id, NOT EXISTS (
    SELECT 1 FROM history AS event LEFT JOIN sources AS source
        ON source.scope_id = event.scope_id AND source.id = event.source_id
     WHERE event.scope_id = :scope_id AND event.memory_id = present.id AND event.new_text = present.text
       AND event.reason NOT IN ('restored', 'merged', 'confirmed') AND source.session IS NOT :session)
  FROM present;

-- name: of_session
-- Memories that say themselves which session they are from; by looking at all of the scope.
SELECT id FROM memories
 WHERE scope_id = :scope_id AND json_valid(metadata) AND json_extract(metadata, '$.session_id') = :session;

-- name: removed_of_session
-- Removed memories that said themselves which session they were from; by looking at all of the scope.
SELECT DISTINCT memory_id FROM history
 WHERE scope_id = :scope_id AND json_valid(state) AND json_extract(state, '$.metadata.session_id') = :session;

-- name: drop_history_of
-- All that is told of one memory.
DELETE FROM history WHERE scope_id = :scope_id AND memory_id = :id;

-- name: drop_history_from
-- The events of one memory that came from a session, and what later events quote of its earlier texts.
DELETE FROM history
 WHERE scope_id = :scope_id AND memory_id = :id
   AND source_id IN (SELECT id FROM sources WHERE scope_id = :scope_id AND session = :session);

-- name: drop_merged_from
-- The events by which memories got, when they were joined with others, what a session had said.
DELETE FROM history
 WHERE scope_id = :scope_id AND reason = 'merged' AND new_text IS NOT old_text
   AND new_text IN (
    SELECT new_text FROM history
     WHERE scope_id = :scope_id
       AND source_id IN (SELECT id FROM sources WHERE scope_id = :scope_id AND session = :session));

-- name: drop_old_texts_of
-- What later events of a memory quote of its earlier texts, with all that it was when it was removed.
UPDATE history SET old_text = NULL, state = NULL WHERE scope_id = :scope_id AND memory_id = :id;

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
-- Let no event point to the words of a session any more.
UPDATE history SET source_id = NULL
 WHERE scope_id = :scope_id
   AND source_id IN (SELECT id FROM sources WHERE scope_id = :scope_id AND session = :session);

-- name: drop_sources
-- The words of a session.
DELETE FROM sources WHERE scope_id = :scope_id AND session = :session;

-- name: drop_receipts_of
-- Answers that quote a memory; by looking at all of the scope, which are those of one day.
DELETE FROM receipts WHERE scope_id = :scope_id AND instr(applied, :id) > 0;

-- name: erase_history
-- All that is told of the memories of a scope.
DELETE FROM history
 WHERE scope_id = :scope_id
   AND (:agent IS NULL OR agent = :agent) AND (:app IS NULL OR app = :app)
   AND (:conversation IS NULL OR conversation = :conversation);

-- name: erase_sources
-- The words behind no event any more; by index history_by_source.
DELETE FROM sources
 WHERE scope_id = :scope_id AND NOT EXISTS (SELECT 1 FROM history WHERE scope_id = :scope_id AND source_id = sources.id);

-- name: erase_receipts
-- All answers that were given to a user.
DELETE FROM receipts WHERE scope_id = :scope_id;
