-- expand
-- For encryption: the key that the digests of a scope are made with, NULL for bare ones, and the key that all of its
-- cells are known to be encrypted with; NULL when nobody has looked, 0 when all are plain.
--
-- The message that turns end with gets a column, as encrypted turns tell nothing. The trigger fills it for programs that
-- do not know it.

ALTER TABLE scopes ADD COLUMN hashed_by INTEGER;
ALTER TABLE scopes ADD COLUMN sealed_by INTEGER;
ALTER TABLE sources ADD COLUMN last_message TEXT;

UPDATE sources SET last_message = message_uid;
DROP INDEX sources_by_message;
CREATE INDEX sources_by_last_message ON sources (scope_id, last_message) WHERE last_message IS NOT NULL;

CREATE TRIGGER name_last_message AFTER INSERT ON sources
 WHEN new.last_message IS NULL AND new.message_uid IS NOT NULL
BEGIN
    UPDATE sources SET last_message = new.message_uid WHERE id = new.id;
END;
