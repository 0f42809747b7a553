-- text: claim, content, created_at, files, finish_reason, model, name, role, run_id, session, text, tool_call_id
-- text: tool_calls, turn_id, uid
-- integer: after, before, estimate, id, limit, mark, offset, parent_id, pinned, token_count, upto
-- real: importance, now_s, threshold, until
-- bytes: digest
-- texts: sessions

-- name: add_message
-- The id. It is not older than its parent.
INSERT INTO messages (session_id, role, content, tool_calls, tool_call_id, name, created_at, parent_id, turn_id,
                      token_count, importance, pinned, files, run_id, finish_reason, digest, uid, estimate)
VALUES (:session, :role, :content, :tool_calls, :tool_call_id, :name,
        CASE WHEN (SELECT created_at FROM messages WHERE id = :parent_id) > :created_at
             THEN (SELECT created_at FROM messages WHERE id = :parent_id) ELSE :created_at END, :parent_id, :turn_id,
        :token_count, :importance, :pinned, :files, :run_id, :finish_reason, :digest, :uid, :estimate) RETURNING id;

-- name: count
-- Messages of the thread; one row.
SELECT count(*) FROM messages WHERE session_id = :session AND off_thread IS NULL;

-- name: counts
-- Sessions of those asked for (JSON), each with the messages of its thread, by idx_messages_thread.
SELECT json_each.value, (SELECT count(*) FROM messages WHERE session_id = json_each.value AND off_thread IS NULL)
  FROM {list sessions} AS json_each;

-- name: beginnings
-- The first messages of the thread of each session asked for (JSON), oldest first, by idx_messages_thread.
SELECT rows.id, session, role, content, tool_calls, tool_call_id, name, at, parent_id, turn_id, token_count, importance,
       pinned, files, run_id, finish_reason, off_thread, uid
  FROM {list sessions} AS json_each
  JOIN message_rows AS rows
    ON rows.id IN (SELECT id FROM messages WHERE session_id = json_each.value AND off_thread IS NULL
                    ORDER BY created_at, id LIMIT :limit)
 ORDER BY json_each.key, created_at, rows.id;

-- name: page
-- Oldest first, by idx_messages_thread.
SELECT id, session, role, content, tool_calls, tool_call_id, name, at, parent_id, turn_id, token_count, importance,
       pinned, files, run_id, finish_reason, off_thread, uid
  FROM message_rows WHERE session_id = :session AND off_thread IS NULL
 ORDER BY created_at, id LIMIT :limit OFFSET :offset;

-- name: newest
-- Newest first, behind the mark and in front of a message (of none: the end), by idx_messages_thread.
SELECT id, session, role, content, tool_calls, tool_call_id, name, at, parent_id, turn_id, token_count, importance,
       pinned, files, run_id, finish_reason, off_thread, uid
  FROM message_rows
 WHERE session_id = :session AND off_thread IS NULL
   AND (created_at, id) > (coalesce((SELECT created_at FROM messages WHERE id = :mark), {before all}), :mark)
   AND (created_at, id) < (coalesce((SELECT created_at FROM messages WHERE id = :before),
                                    CASE :before WHEN -1 THEN {behind all} ELSE {before all} END), :before)
 ORDER BY created_at DESC, id DESC LIMIT :limit;

-- name: oldest
-- Oldest first, behind the mark and another message, and in front of a third, by idx_messages_thread.
SELECT id, session, role, content, tool_calls, tool_call_id, name, at, parent_id, turn_id, token_count, importance,
       pinned, files, run_id, finish_reason, off_thread, uid
  FROM message_rows
 WHERE session_id = :session AND off_thread IS NULL
   AND (created_at, id) > (coalesce((SELECT created_at FROM messages WHERE id = :after), {before all}), :after)
   AND (created_at, id) > (coalesce((SELECT created_at FROM messages WHERE id = :mark), {before all}), :mark)
   AND (created_at, id) < (coalesce((SELECT created_at FROM messages WHERE id = :before),
                                    CASE :before WHEN -1 THEN {behind all} ELSE {before all} END), :before)
 ORDER BY created_at, id LIMIT :limit;

-- name: important
-- Oldest first; found by idx_messages_pinned and idx_messages_importance.
SELECT id, session, role, content, tool_calls, tool_call_id, name, at, parent_id, turn_id, token_count, importance,
       pinned, files, run_id, finish_reason, off_thread, uid
  FROM message_rows
 WHERE id IN (SELECT id FROM messages WHERE session_id = :session AND off_thread IS NULL AND pinned = 1
              UNION SELECT id FROM messages
                     WHERE session_id = :session AND off_thread IS NULL AND importance >= :threshold)
   AND (created_at, id) > (coalesce((SELECT created_at FROM messages WHERE id = :mark), {before all}), :mark)
 ORDER BY created_at, id;

-- name: unscored
-- By id, by idx_messages_importance.
SELECT id, session, role, content, tool_calls, tool_call_id, name, at, parent_id, turn_id, token_count, importance,
       pinned, files, run_id, finish_reason, off_thread, uid
  FROM message_rows WHERE session_id = :session AND off_thread IS NULL AND importance IS NULL
   AND ({unindexed created_at}, id) > (coalesce((SELECT created_at FROM messages WHERE id = :mark), {before all}), :mark)
 ORDER BY id LIMIT :limit;

-- name: one
-- One row.
SELECT id, session, role, content, tool_calls, tool_call_id, name, at, parent_id, turn_id, token_count, importance,
       pinned, files, run_id, finish_reason, off_thread, uid
  FROM message_rows WHERE id = :id;

-- name: uid
-- The uid of a message.
SELECT id, {bytes uid} FROM messages WHERE id = :id;

-- name: with_uid
-- Where the message of a uid is, by idx_messages_uid.
SELECT {bytes uid}, {bytes session_id}, id FROM messages WHERE uid = :uid;

-- name: score
-- What a message weighs, 0 to 1.
UPDATE messages SET importance = :importance WHERE id = :id;

-- name: pin
-- The id, if there is such a message.
UPDATE messages SET pinned = :pinned WHERE id = :id RETURNING id;

-- name: mark
-- The message after which windows begin; one row, 0 for none.
SELECT coalesce((SELECT coalesce(context_moved, context_after) FROM sessions WHERE id = :session), 0);

-- name: mark_newest
-- The id of the head, after which windows begin from now on.
UPDATE sessions
   SET context_after = (SELECT id FROM messages WHERE session_id = :session AND off_thread IS NULL
                         ORDER BY created_at DESC, id DESC LIMIT 1),
       context_moved = NULL, summary_claim = NULL, summary_claim_until = NULL
 WHERE id = :session RETURNING context_after;

-- name: summary
-- The session's summary.
SELECT upto_message_id, {bytes text} AS text, token_count, {bytes model}, {bytes created_at} FROM summaries
 WHERE session_id = :session;

-- name: claim
-- The claim, if it was free or had run out.
UPDATE sessions SET summary_claim = :claim, summary_claim_until = :until
 WHERE id = :session AND (summary_claim IS NULL OR summary_claim_until <= :now_s) RETURNING summary_claim;

-- name: release
-- The claim, if it was still held.
UPDATE sessions SET summary_claim = NULL, summary_claim_until = NULL
 WHERE id = :session AND summary_claim = :claim RETURNING id;

-- name: put_summary
-- The session, if the message that the summary reaches to is on the thread.
INSERT INTO summaries (session_id, upto_message_id, text, token_count, model, created_at)
SELECT session_id, id, :text, :token_count, :model, :created_at FROM messages
 WHERE id = :upto AND session_id = :session AND off_thread IS NULL
    ON CONFLICT (session_id) DO UPDATE SET upto_message_id = excluded.upto_message_id, text = excluded.text,
       token_count = excluded.token_count, model = excluded.model, created_at = excluded.created_at
RETURNING session_id;
