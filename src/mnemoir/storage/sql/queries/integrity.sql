-- integer: limit

-- name: misplaced
-- Memories that lack a row, by scope in order of storing; reads all.
SELECT id, what FROM (
    SELECT m.scope_id, m.seq, m.id, 'has no words' AS what FROM memories AS m
     WHERE NOT EXISTS (SELECT 1 FROM entries AS e WHERE e.scope_id = m.scope_id AND e.seq = m.seq)
    UNION ALL
    SELECT m.scope_id, m.seq, m.id, 'has no history' FROM memories AS m
     WHERE m.valid_to IS NULL
       AND NOT EXISTS (SELECT 1 FROM history AS h WHERE h.scope_id = m.scope_id AND h.memory_id = m.id)
) AS lacking ORDER BY scope_id, seq LIMIT :limit;
