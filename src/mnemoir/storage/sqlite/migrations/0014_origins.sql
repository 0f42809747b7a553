-- expand
-- Where the words of a memory come from: NULL for a fact that was learned from what a user said, and for a message,
-- whose role tells it. What was imported, or last written by hand, is found in the history.

ALTER TABLE memories ADD COLUMN origin TEXT;

UPDATE memories SET origin = (
    SELECT CASE WHEN h.reason IN ('edit', 'merged') THEN 'person' WHEN h.reason = 'import' THEN 'import' END
      FROM history AS h
     WHERE h.scope_id = memories.scope_id AND h.memory_id = memories.id
       AND h.new_text IS NOT NULL AND h.new_text IS NOT h.old_text
     ORDER BY h.number DESC LIMIT 1
) WHERE (scope_id, id) IN (SELECT scope_id, memory_id FROM history WHERE reason IN ('edit', 'merged', 'import'));
