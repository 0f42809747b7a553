-- text: at, before, id, name
-- integer: limit, seq

-- name: old_events
-- Events of a scope from before a time whose memory got another text later, oldest first, so many at most; by indexes
-- history_of_scope and history_of_memory. Restoring a memory, merging it and confirming it give it no text of its own.
SELECT h.number FROM history AS h
 WHERE h.scope_id = :scope_id AND h.at < :before
   AND EXISTS (SELECT 1 FROM history AS later
                WHERE later.scope_id = :scope_id AND later.memory_id = h.memory_id AND later.number > h.number
                  AND later.new_text IS NOT NULL AND later.reason NOT IN ('restored', 'merged', 'confirmed', 'undone'))
 ORDER BY h.number LIMIT :limit;

-- name: old_removed
-- Memories of a scope whose last event is a removal from before a time, so many at most; by indexes history_of_scope
-- and history_of_memory.
SELECT h.memory_id FROM history AS h
 WHERE h.scope_id = :scope_id AND h.at < :before AND h.event = 'DELETE'
   AND NOT EXISTS (SELECT 1 FROM history AS later
                    WHERE later.scope_id = :scope_id AND later.memory_id = h.memory_id AND later.number > h.number)
 ORDER BY h.number LIMIT :limit;

-- name: old_replaced
-- States of a scope that were replaced before a time and have no history of their own, so many at most; by index
-- closed_memories_by_change.
SELECT m.seq FROM memories AS m
 WHERE m.scope_id = :scope_id AND m.valid_to IS NOT NULL AND m.valid_to < :before
   AND NOT EXISTS (SELECT 1 FROM history AS h
                    WHERE h.scope_id = :scope_id AND h.memory_id = m.id AND h.event = 'DELETE')
 ORDER BY m.seq LIMIT :limit;

-- name: drop_removed
-- Delete the closed state of a removed memory; by the unique key.
DELETE FROM memories WHERE scope_id = :scope_id AND id = :id AND valid_to IS NOT NULL;

-- name: drop_replaced
-- Delete a closed state; by the primary key.
DELETE FROM memories WHERE scope_id = :scope_id AND seq = :seq AND valid_to IS NOT NULL;

-- name: stamp
-- The time of a stamp; at most one row, by the primary key.
SELECT at FROM stamps WHERE name = :name;

-- name: put_stamp
-- Note the time of a stamp.
INSERT INTO stamps (name, at) VALUES (:name, :at) ON CONFLICT (name) DO UPDATE SET at = excluded.at;
