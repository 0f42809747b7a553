-- expand
-- Closed memories keep their words and vectors, for searches of the past. Those that were closed before this step get
-- an entry without any, which is filled behind the requests. `terms_by` names the rules that the terms of an entry were
-- made by; it is NULL for those of earlier programs.
-- The triggers belong to programs that do not know this: they give a closed memory no entry, and take it from one that
-- is closed.

ALTER TABLE entries ADD COLUMN terms_by TEXT;
ALTER TABLE file_index ADD COLUMN terms_by TEXT;

INSERT INTO entries (scope_id, seq, terms)
SELECT scope_id, seq, x'' FROM memories
 WHERE valid_to IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM entries AS e WHERE e.scope_id = memories.scope_id AND e.seq = memories.seq);

CREATE INDEX entries_by_terms ON entries (terms_by, scope_id, seq); -- what waits for other terms
CREATE INDEX closed_memories_by_change ON memories (scope_id, change, seq) WHERE valid_to IS NOT NULL;

CREATE TRIGGER closed_memory AFTER INSERT ON memories WHEN new.valid_to IS NOT NULL
BEGIN
    INSERT INTO entries (scope_id, seq, terms) VALUES (new.scope_id, new.seq, x'');
END;

CREATE TRIGGER entry_of_a_closed_memory AFTER DELETE ON entries
 WHEN EXISTS (SELECT 1 FROM memories WHERE scope_id = old.scope_id AND seq = old.seq AND valid_to IS NOT NULL)
BEGIN
    INSERT INTO entries (scope_id, seq, terms) VALUES (old.scope_id, old.seq, x'');
END;

-- Other terms of the same text leave its second vector alone.
DROP TRIGGER rewritten_entry;

CREATE TRIGGER rewritten_entry AFTER UPDATE OF terms ON entries
 WHEN old.second_vector IS NOT NULL AND (new.terms IS NOT old.terms OR new.vector IS NOT old.vector)
  AND (new.terms_by IS old.terms_by OR new.vector IS NOT old.vector)
BEGIN
    UPDATE entries SET second_model = '', second_vector = NULL WHERE scope_id = new.scope_id AND seq = new.seq;
END;
