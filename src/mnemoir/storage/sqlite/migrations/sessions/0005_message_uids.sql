-- expand
-- Each message gets an id that is unique in all files. The trigger gives one to rows of other programs.

ALTER TABLE messages ADD COLUMN uid TEXT;
UPDATE messages SET uid = 'msg_' || lower(hex(randomblob(16)));
CREATE INDEX idx_messages_uid ON messages (uid);
CREATE TRIGGER name_message AFTER INSERT ON messages WHEN new.uid IS NULL
BEGIN
    UPDATE messages SET uid = 'msg_' || lower(hex(randomblob(16))) WHERE id = new.id;
END;
