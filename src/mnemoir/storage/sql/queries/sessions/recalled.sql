-- text: recalled, session, uid
-- integer: limit
-- integers: ids
-- texts: uids

-- name: questions
-- The messages of a session for which something was recalled, on all branches, and behind them those of certain ids
-- (JSON), whose references are left out; by idx_messages_recalled and the primary key.
SELECT id, {bytes uid} AS uid, {bytes recalled} AS recalled FROM messages {by idx_messages_recalled}
 WHERE session_id = :session AND recalled IS NOT NULL
UNION ALL
SELECT id, {bytes uid} AS uid, NULL AS recalled FROM messages WHERE id {in ids};

-- name: latest_references
-- What was recalled for the newest questions of all sessions, the newest first; by looking at all that have any.
SELECT {bytes recalled} AS recalled FROM messages {by idx_messages_recalled}
 WHERE recalled IS NOT NULL ORDER BY id DESC LIMIT :limit;

-- name: put_recalled
-- Note what was recalled for a message; by idx_messages_uid.
UPDATE messages SET recalled = :recalled WHERE uid = :uid;

-- name: named
-- Messages of certain uids (JSON), unsorted; by idx_messages_uid.
SELECT id, session, role, content, tool_calls, tool_call_id, name, at, parent_id, turn_id, token_count, importance,
       pinned, files, run_id, finish_reason, off_thread, uid
  FROM message_rows WHERE id IN (SELECT id FROM messages WHERE uid {in uids});
