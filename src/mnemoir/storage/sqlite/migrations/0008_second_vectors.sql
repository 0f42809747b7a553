-- expand
-- A second vector beside that of the main model: of every fact of a user who uses other languages than English, and of
-- messages in them. `second_model` is NULL for a text that needs none, and '' while the vector is to be made.
-- The triggers belong to programs that do not know these columns and rewrite a text.

ALTER TABLE scopes ADD COLUMN is_multilingual INTEGER NOT NULL DEFAULT 0;
ALTER TABLE entries ADD COLUMN second_model TEXT;
ALTER TABLE entries ADD COLUMN second_vector BLOB;
ALTER TABLE file_index ADD COLUMN second_model TEXT;
ALTER TABLE file_index ADD COLUMN second_vector BLOB;

CREATE INDEX entries_by_second_model ON entries (second_model, scope_id, seq) WHERE second_model IS NOT NULL;
CREATE INDEX file_index_by_second_model
    ON file_index (second_model, number, project_number, user, memory_id) WHERE second_model IS NOT NULL;

CREATE TRIGGER rewritten_entry AFTER UPDATE OF terms ON entries
 WHEN old.second_vector IS NOT NULL AND (new.terms IS NOT old.terms OR new.vector IS NOT old.vector)
BEGIN
    UPDATE entries SET second_model = '', second_vector = NULL WHERE scope_id = new.scope_id AND seq = new.seq;
END;

CREATE TRIGGER rewritten_file_entry AFTER UPDATE OF text_hash ON file_index
 WHEN old.second_vector IS NOT NULL AND new.text_hash IS NOT old.text_hash
BEGIN
    UPDATE file_index SET second_model = '', second_vector = NULL WHERE number = new.number;
END;
