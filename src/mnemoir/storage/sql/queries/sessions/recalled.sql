-- text: recalled, session, uid
-- integer: limit
-- integers: ids
-- texts: uids

-- name: questions
-- The messages of a session for which something was recalled, on all branches, and behind them those of certain ids
-- (JSON), whose references are left out; by idx_messages_recalled and the primary key.
SELECT id, {bytes uid} AS uid, {cell messages.recalled} FROM messages {by idx_messages_recalled}
 WHERE {in_session} AND recalled IS NOT NULL
UNION ALL
SELECT id, {bytes uid}, NULL FROM messages WHERE {unindexed scope_id} = :scope_id AND id {in ids};

-- name: latest_references
-- What was recalled for the newest questions of all sessions, the newest first; by looking at all that have any.
SELECT {cell messages.recalled}, {bytes uid} AS uid FROM messages {by idx_messages_recalled}
 WHERE scope_id = :scope_id AND recalled IS NOT NULL ORDER BY id DESC LIMIT :limit;

-- name: put_recalled
-- Note what was recalled for a message; by idx_messages_uid.
UPDATE messages SET recalled = :recalled WHERE scope_id = :scope_id AND uid = :uid;

-- name: named
-- Messages of certain uids (JSON), unsorted; by idx_messages_uid.
SELECT {message} FROM messages WHERE scope_id = :scope_id AND uid {in uids};
