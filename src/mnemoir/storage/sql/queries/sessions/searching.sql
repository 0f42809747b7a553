-- text: spaces, user
-- integer: after, limit
-- real: threshold

-- name: said_after
-- Messages that say something, by id, by idx_messages_scope.
SELECT messages.id, {bytes session_id} AS session, {bytes role} AS role, {cell messages.name},
       {cell messages.content}, {bytes created_at} AS at, {bytes uid} AS uid
  FROM messages {by idx_messages_scope}
 WHERE scope_id = :scope_id AND messages.id > :after
   AND messages.role <> 'system' AND trim(messages.content, :spaces) <> ''
 ORDER BY messages.id LIMIT :limit;

-- name: living
-- The ids of all messages, from whichever index is smallest.
SELECT id FROM messages WHERE scope_id = :scope_id;

-- name: important
-- An id may come twice. Pinned ones by idx_messages_pinned, those on the thread by idx_messages_importance.
SELECT id FROM messages WHERE scope_id = :scope_id AND pinned = 1
 UNION ALL SELECT id FROM messages WHERE scope_id = :scope_id AND off_thread IS NULL AND importance >= :threshold
 UNION ALL SELECT id FROM messages WHERE scope_id = :scope_id AND off_thread = 1 AND importance >= :threshold;

-- name: notes
-- Metadata of all sessions.
SELECT {bytes id} AS session, {cell sessions.metadata} FROM sessions WHERE scope_id = :scope_id;

-- name: notes_of_user
-- Metadata of the sessions of a user, and of all whose metadata are no JSON: encrypted, or damaged.
SELECT {bytes id} AS session, {cell sessions.metadata} FROM sessions
 WHERE scope_id = :scope_id
   AND CASE WHEN json_valid(metadata) THEN json_extract(metadata, '$.user') = :user ELSE 1 END;

-- postgres: notes_of_user
SELECT id AS session, {cell sessions.metadata} FROM sessions
 WHERE scope_id = :scope_id
   AND CASE WHEN starts_with(metadata, chr(123)) THEN metadata::jsonb ->> 'user' = :user ELSE TRUE END;

-- name: newest_id
-- One row: the greatest id ever given.
SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'messages'), 0);

-- postgres: newest_id
SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('messages', 'id')), 0);

-- name: newest_id_and_count
-- One row: the same, and how many messages are left, from whichever index is smallest.
SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'messages'), 0),
       (SELECT count(*) FROM messages WHERE scope_id = :scope_id);

-- postgres: newest_id_and_count
SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('messages', 'id')), 0),
       (SELECT count(*) FROM messages WHERE scope_id = :scope_id);
