-- A name for each message that holds outside of the file, too. A row of another program gets one as it comes in.

ALTER TABLE messages ADD COLUMN uid TEXT;
UPDATE messages SET uid = 'msg_' || lower(hex(randomblob(16)));
CREATE INDEX idx_messages_uid ON messages (uid);
CREATE TRIGGER name_message AFTER INSERT ON messages WHEN new.uid IS NULL
BEGIN
    UPDATE messages SET uid = 'msg_' || lower(hex(randomblob(16))) WHERE id = new.id;
END;
