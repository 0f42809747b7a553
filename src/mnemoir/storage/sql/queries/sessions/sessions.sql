-- text: cutoff, id, metadata, now, same, session, system_prompt, updated_at
-- integer: limit, offset

-- name: add_session
-- The id, if the session was not there yet.
INSERT INTO sessions (id, created_at, updated_at, system_prompt, metadata)
VALUES (:session, :now, :now, :system_prompt, :metadata) ON CONFLICT (id) DO NOTHING RETURNING id;

-- name: use_session
-- Mark a session as used now, and create it if it is missing; a clock that was set back makes nothing older.
INSERT INTO sessions (id, created_at, updated_at, system_prompt, metadata)
VALUES (:session, :now, :now, :system_prompt, :metadata)
    ON CONFLICT (id) DO UPDATE SET updated_at = excluded.updated_at WHERE sessions.updated_at < excluded.updated_at;

-- name: touch_session
-- Mark a session as used now; a clock that was set back makes nothing older.
UPDATE sessions SET updated_at = :now WHERE id = :session AND updated_at < :now;

-- name: change_session
-- The id, if there is such a session; what is NULL stays as it is.
UPDATE sessions SET system_prompt = coalesce(:system_prompt, system_prompt), metadata = coalesce(:metadata, metadata)
 WHERE id = :session RETURNING id;

-- name: session
-- One row.
SELECT session, at, used_at, system_prompt, metadata, context_after, head FROM session_rows WHERE id = :session;

-- name: page
-- Newest activity first, by idx_sessions_updated.
SELECT session, at, used_at, system_prompt, metadata, context_after, head FROM session_rows
 ORDER BY updated_at DESC, id DESC LIMIT :limit OFFSET :offset;

-- name: behind
-- Newest activity first, behind an activity (NULL: from the newest on) and an id, by idx_sessions_updated. A session
-- that was not used since (`same`) gives its activity as it is written.
SELECT session, at, used_at, system_prompt, metadata, context_after, head FROM session_rows
 WHERE (updated_at, id) < (coalesce((SELECT updated_at FROM sessions WHERE id = :same), :updated_at, {behind all}), :id)
 ORDER BY updated_at DESC, id DESC LIMIT :limit;

-- name: used_at
-- When a session was last used, as it is written there.
SELECT {bytes updated_at} FROM sessions WHERE id = :session;

-- name: used_before
-- Sessions last used before a time, behind another one, oldest activity first, by idx_sessions_updated.
SELECT id AS session, updated_at, {bytes metadata} AS metadata FROM sessions
 WHERE updated_at < :cutoff AND (updated_at, id) > (:updated_at, :id) ORDER BY updated_at, id LIMIT :limit;

-- name: drop_session
-- Its summary goes with it.
DELETE FROM sessions WHERE id = :session;

-- name: note_removals
-- Record the vectors of a session's messages for removal, before these are deleted.
UPDATE embedding_state SET status = 'removed'
 WHERE status <> 'removed' AND message_id IN (SELECT id FROM messages WHERE session_id = :session);

-- name: drop_messages
-- Delete messages.
DELETE FROM messages WHERE session_id = :session;

-- name: drop_summary
-- Nothing was said any more.
DELETE FROM summaries WHERE session_id = :session;

-- name: drop_mark
-- Windows begin at the first message again, and no summary under way is wanted.
UPDATE sessions SET context_after = NULL, context_moved = NULL, summary_claim = NULL, summary_claim_until = NULL
 WHERE id = :session;

-- name: left_of_session
-- How many messages name a session that is to be gone; one row.
SELECT count(*) FROM messages WHERE session_id = :session;
