-- text: spaces, user
-- integer: after, limit
-- real: threshold

-- name: said_after
-- Messages that say something, by id.
SELECT id, session, role, name, content, at, uid FROM message_rows
 WHERE id > :after AND message_rows.role <> {bytes 'system'} AND trim(message_rows.content, :spaces) <> ''
 ORDER BY id LIMIT :limit;

-- name: living
-- The ids of all messages, from whichever index is smallest.
SELECT id FROM messages;

-- name: important
-- An id may come twice. Pinned ones by idx_messages_pinned, those on the thread by idx_messages_importance.
SELECT id FROM messages WHERE pinned = 1
 UNION ALL SELECT id FROM messages WHERE off_thread IS NULL AND importance >= :threshold
 UNION ALL SELECT id FROM messages WHERE off_thread = 1 AND importance >= :threshold;

-- name: notes
-- Metadata of all sessions.
SELECT {bytes id} AS session, {bytes metadata} AS metadata FROM sessions;

-- name: notes_of_user
-- Metadata of the sessions of a user, and of all whose metadata are no JSON: encrypted, or damaged.
SELECT {bytes id} AS session, {bytes metadata} AS metadata FROM sessions
 WHERE CASE WHEN json_valid(metadata) THEN json_extract(metadata, '$.user') = :user ELSE 1 END;

-- postgres: notes_of_user
SELECT id AS session, metadata FROM sessions
 WHERE CASE WHEN starts_with(metadata, chr(123)) THEN metadata::jsonb ->> 'user' = :user ELSE TRUE END;

-- name: newest_id
-- One row: the greatest id ever given.
SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'messages'), 0);

-- postgres: newest_id
SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('messages', 'id')), 0);

-- name: newest_id_and_count
-- One row: the same, and how many messages are left, from whichever index is smallest.
SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'messages'), 0), (SELECT count(*) FROM messages);

-- postgres: newest_id_and_count
SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('messages', 'id')), 0), (SELECT count(*) FROM messages);
