-- text: model, now, session, since, spaces
-- integer: after, id, limit

-- name: await
-- The message, if it is there; its vector is being made.
INSERT INTO embedding_state (scope_id, message_id, model, status, updated_at)
SELECT scope_id, id, :model, 'pending', :now FROM messages WHERE scope_id = :scope_id AND id = :id
    ON CONFLICT (scope_id, message_id) DO UPDATE SET model = excluded.model, status = 'pending',
       updated_at = excluded.updated_at
RETURNING message_id;

-- name: added
-- The message, if it is there still; it has its vector.
UPDATE embedding_state SET status = 'embedded', model = :model, updated_at = :now
 WHERE scope_id = :scope_id AND message_id = :id AND status <> 'removed' RETURNING message_id;

-- name: failed
-- One attempt more that gave no vector.
UPDATE embedding_state SET status = 'failed', attempts = attempts + 1, updated_at = :now
 WHERE scope_id = :scope_id AND message_id = :id AND status <> 'removed';

-- name: to_remove
-- Deleted messages whose vectors may be left, by idx_embedding_removed.
SELECT message_id FROM embedding_state WHERE scope_id = :scope_id AND status = 'removed'
 ORDER BY message_id LIMIT :limit;

-- name: removed
-- Nothing is left of the message.
DELETE FROM embedding_state WHERE scope_id = :scope_id AND message_id = :id AND status = 'removed';

-- name: counts
-- How many there are by status.
SELECT status, count(*) FROM embedding_state WHERE scope_id = :scope_id GROUP BY status;

-- name: unembedded
-- Messages that say something and have no vector of a model, by id, by idx_messages_scope.
SELECT {message} FROM messages {by idx_messages_scope}
 WHERE scope_id = :scope_id AND messages.id > :after AND (:session IS NULL OR messages.session_id = :session)
   AND messages.role <> 'system' AND trim(messages.content, :spaces) <> ''
   AND NOT EXISTS (SELECT 1 FROM embedding_state
                    WHERE embedding_state.scope_id = :scope_id AND message_id = messages.id AND model = :model
                      AND status = 'embedded')
 ORDER BY messages.id LIMIT :limit;

-- name: progress
-- How many messages there are, how many of them say something that a vector can be made of, and how many of those
-- have one of the model, or of any for NULL; one row, by looking at all of them.
SELECT count(*), count(*) FILTER (WHERE says_something),
       count(*) FILTER (WHERE says_something AND EXISTS (
           SELECT 1 FROM embedding_state
            WHERE scope_id = :scope_id AND message_id = id AND status = 'embedded'
              AND (:model IS NULL OR model = :model)))
  FROM (SELECT id, role <> 'system' AND trim(coalesce(content, ''), :spaces) <> '' AS says_something
          FROM messages WHERE scope_id = :scope_id) AS said;

-- name: by_day
-- How many messages there are of each day since one, unsorted; from index idx_messages_created.
SELECT substr(created_at, 1, 10), count(*) FROM messages WHERE scope_id = :scope_id AND created_at >= :since GROUP BY 1;

-- name: sessions
-- Every session with its last activity, unsorted.
SELECT id, CAST(updated_at AS TEXT) FROM sessions WHERE scope_id = :scope_id;
