-- text: claim, content, created_at, files, finish_reason, model, name, role, run_id, session, text, tool_call_id
-- text: tool_calls, turn_id, uid
-- integer: after, before, estimate, id, limit, mark, offset, parent_id, pinned, token_count, upto
-- real: importance, now_s, threshold, until
-- bytes: digest
-- texts: sessions

-- part: behind_mark
(created_at, messages.id) > (coalesce((SELECT created_at FROM messages WHERE scope_id = :scope_id AND id = :mark),
                                      {before all}), :mark)

-- part: in_front
(created_at, messages.id) < (coalesce((SELECT created_at FROM messages WHERE scope_id = :scope_id AND id = :before),
                                      CASE :before WHEN -1 THEN {behind all} ELSE {before all} END), :before)

-- name: add_message
-- The id, and how many bytes are stored; none for a uid that the session has. It is not older than its parent.
INSERT INTO messages (scope_id, session_id, role, content, tool_calls, tool_call_id, name, created_at, parent_id,
                      turn_id, token_count, importance, pinned, files, run_id, finish_reason, digest, uid, estimate)
VALUES (:scope_id, :session, :role, :content, :tool_calls, :tool_call_id, :name,
        CASE WHEN (SELECT created_at FROM messages WHERE scope_id = :scope_id AND id = :parent_id) > :created_at
             THEN (SELECT created_at FROM messages WHERE scope_id = :scope_id AND id = :parent_id) ELSE :created_at
             END, :parent_id, :turn_id, :token_count, :importance, :pinned, :files, :run_id, :finish_reason, :digest,
        :uid, :estimate)
    ON CONFLICT (scope_id, uid, session_id) DO NOTHING RETURNING id, {size};

-- name: count
-- Messages of the thread; one row.
SELECT count(*) FROM messages WHERE {on_thread};

-- name: counts
-- Sessions of those asked for (JSON), each with the messages of its thread, by idx_messages_thread.
SELECT json_each.value, (SELECT count(*) FROM messages
                          WHERE scope_id = :scope_id AND session_id = json_each.value AND off_thread IS NULL)
  FROM {list sessions} AS json_each;

-- name: beginnings
-- The first messages of the thread of each session asked for (JSON), oldest first, by idx_messages_thread.
SELECT {message}
  FROM {list sessions} AS json_each
  JOIN messages
    ON {unindexed messages.scope_id} = :scope_id
   AND messages.id IN (SELECT id FROM messages
                        WHERE scope_id = :scope_id AND session_id = json_each.value AND off_thread IS NULL
                        ORDER BY created_at, id LIMIT :limit)
 ORDER BY json_each.key, created_at, messages.id;

-- name: page
-- Oldest first, by idx_messages_thread.
SELECT {message} FROM messages WHERE {on_thread} ORDER BY created_at, messages.id LIMIT :limit OFFSET :offset;

-- name: newest
-- Newest first, behind the mark and in front of a message (of none: the end), by idx_messages_thread.
SELECT {message} FROM messages WHERE {on_thread} AND {behind_mark} AND {in_front}
 ORDER BY created_at DESC, messages.id DESC LIMIT :limit;

-- name: oldest
-- Oldest first, behind the mark and another message, and in front of a third, by idx_messages_thread.
SELECT {message} FROM messages
 WHERE {on_thread} AND {behind_mark} AND {in_front}
   AND (created_at, messages.id)
       > (coalesce((SELECT created_at FROM messages WHERE scope_id = :scope_id AND id = :after), {before all}), :after)
 ORDER BY created_at, messages.id LIMIT :limit;

-- name: important
-- Oldest first; found by idx_messages_pinned and idx_messages_importance.
SELECT {message} FROM messages
 WHERE {unindexed messages.scope_id} = :scope_id
   AND messages.id IN (SELECT id FROM messages WHERE {on_thread} AND pinned = 1
                       UNION SELECT id FROM messages WHERE {on_thread} AND importance >= :threshold)
   AND {behind_mark}
 ORDER BY created_at, messages.id;

-- name: unscored
-- By id, by idx_messages_importance.
SELECT {message} FROM messages
 WHERE {on_thread} AND messages.importance IS NULL
   AND ({unindexed created_at}, messages.id)
       > (coalesce((SELECT created_at FROM messages WHERE scope_id = :scope_id AND id = :mark), {before all}), :mark)
 ORDER BY messages.id LIMIT :limit;

-- name: one
-- One row.
SELECT {message} FROM messages WHERE scope_id = :scope_id AND messages.id = :id;

-- name: uid
-- The uid of a message.
SELECT id, {bytes uid} FROM messages WHERE scope_id = :scope_id AND id = :id;

-- name: with_uid
-- Where the message of a uid is, by idx_messages_uid.
SELECT {bytes uid}, {bytes session_id}, id FROM messages WHERE scope_id = :scope_id AND uid = :uid;

-- name: score
-- What a message weighs, 0 to 1.
UPDATE messages SET importance = :importance WHERE scope_id = :scope_id AND id = :id;

-- name: pin
-- The id, if there is such a message.
UPDATE messages SET pinned = :pinned WHERE scope_id = :scope_id AND id = :id RETURNING id;

-- name: mark
-- The message after which windows begin; one row, 0 for none.
SELECT coalesce((SELECT coalesce(context_moved, context_after) FROM sessions
                  WHERE scope_id = :scope_id AND id = :session), 0);

-- name: mark_newest
-- The id of the head, after which windows begin from now on.
UPDATE sessions
   SET context_after = (SELECT id FROM messages WHERE {on_thread} ORDER BY created_at DESC, id DESC LIMIT 1),
       context_moved = NULL, summary_claim = NULL, summary_claim_until = NULL
 WHERE scope_id = :scope_id AND id = :session RETURNING context_after;

-- name: summary
-- The session's summary.
SELECT upto_message_id, {cell summaries.text}, token_count, {bytes model}, {bytes created_at} FROM summaries
 WHERE scope_id = :scope_id AND session_id = :session;

-- name: claim
-- The claim, if it was free or had run out.
UPDATE sessions SET summary_claim = :claim, summary_claim_until = :until
 WHERE scope_id = :scope_id AND id = :session AND (summary_claim IS NULL OR summary_claim_until <= :now_s)
RETURNING summary_claim;

-- name: release
-- The claim, if it was still held.
UPDATE sessions SET summary_claim = NULL, summary_claim_until = NULL
 WHERE scope_id = :scope_id AND id = :session AND summary_claim = :claim RETURNING id;

-- name: put_summary
-- The session, if the message that the summary reaches to is on the thread.
INSERT INTO summaries (scope_id, session_id, upto_message_id, text, token_count, model, created_at)
SELECT scope_id, session_id, id, :text, :token_count, :model, :created_at FROM messages
 WHERE {on_thread} AND id = :upto
    ON CONFLICT (scope_id, session_id) DO UPDATE SET upto_message_id = excluded.upto_message_id, text = excluded.text,
       token_count = excluded.token_count, model = excluded.model, created_at = excluded.created_at
RETURNING session_id;
