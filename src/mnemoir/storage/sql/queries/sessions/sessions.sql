-- text: cutoff, id, metadata, now, same, session, system_prompt, updated_at
-- integer: limit, offset
-- integers: ids

-- part: session
{bytes sessions.id} AS session, {bytes sessions.created_at} AS at, {bytes sessions.updated_at} AS used_at,
       {cell sessions.system_prompt}, {cell sessions.metadata},
       nullif(coalesce(sessions.context_moved, sessions.context_after), 0) AS context_after,
       (SELECT messages.id FROM messages
         WHERE messages.scope_id = sessions.scope_id AND session_id = sessions.id AND off_thread IS NULL
         ORDER BY messages.created_at DESC, messages.id DESC LIMIT 1) AS head

-- name: add_session
-- The id, if the session was not there yet.
INSERT INTO sessions (scope_id, id, created_at, updated_at, system_prompt, metadata)
VALUES (:scope_id, :session, :now, :now, :system_prompt, :metadata)
    ON CONFLICT (scope_id, id) DO NOTHING RETURNING id;

-- name: use_session
-- Mark a session as used now, and create it if it is missing; true for a new one, none for one that was used no earlier.
INSERT INTO sessions (scope_id, id, created_at, updated_at, system_prompt, metadata)
VALUES (:scope_id, :session, :now, :now, :system_prompt, :metadata)
    ON CONFLICT (scope_id, id) DO UPDATE SET updated_at = excluded.updated_at
 WHERE sessions.updated_at < excluded.updated_at RETURNING created_at = :now;

-- name: touch_session
-- Mark a session as used now; a clock that was set back makes nothing older.
UPDATE sessions SET updated_at = :now WHERE scope_id = :scope_id AND id = :session AND updated_at < :now;

-- name: change_session
-- The id, if there is such a session; what is NULL stays as it is.
UPDATE sessions SET system_prompt = coalesce(:system_prompt, system_prompt), metadata = coalesce(:metadata, metadata)
 WHERE scope_id = :scope_id AND id = :session RETURNING id;

-- name: session
-- One row.
SELECT {session} FROM sessions WHERE scope_id = :scope_id AND sessions.id = :session;

-- name: page
-- Newest activity first, by idx_sessions_used.
SELECT {session} FROM sessions WHERE scope_id = :scope_id
 ORDER BY updated_at DESC, sessions.id DESC LIMIT :limit OFFSET :offset;

-- name: behind
-- Newest activity first, behind an activity (NULL: from the newest on) and an id, by idx_sessions_used. A session
-- that was not used since (`same`) gives its activity as it is written.
SELECT {session} FROM sessions
 WHERE scope_id = :scope_id
   AND (updated_at, sessions.id)
       < (coalesce((SELECT updated_at FROM sessions WHERE scope_id = :scope_id AND id = :same), :updated_at,
                   {behind all}), :id)
 ORDER BY updated_at DESC, sessions.id DESC LIMIT :limit;

-- name: used_at
-- When a session was last used, as it is written there.
SELECT {bytes updated_at} FROM sessions WHERE scope_id = :scope_id AND id = :session;

-- name: used_before
-- Sessions last used before a time, behind another one, oldest activity first, by idx_sessions_used.
SELECT id AS session, updated_at, {cell sessions.metadata} FROM sessions
 WHERE scope_id = :scope_id AND updated_at < :cutoff AND (updated_at, id) > (:updated_at, :id)
 ORDER BY updated_at, id LIMIT :limit;

-- name: drop_session
-- Its summary goes with it.
DELETE FROM sessions WHERE scope_id = :scope_id AND id = :session;

-- name: newest_messages
-- The newest messages of all branches of a session, by idx_messages_session.
SELECT id FROM messages {by idx_messages_session} WHERE {in_session} ORDER BY id DESC LIMIT :limit;

-- name: note_removals
-- Record the vectors of messages (JSON) for removal, before these are deleted; by the primary key.
UPDATE embedding_state SET status = 'removed'
 WHERE scope_id = :scope_id AND message_id {in ids} AND status <> 'removed';

-- name: drop_messages
-- Delete messages (JSON); how many bytes each had. By the primary key.
DELETE FROM messages WHERE {unindexed scope_id} = :scope_id AND id {in ids} RETURNING {size};

-- name: drop_summary
-- Nothing was said any more.
DELETE FROM summaries WHERE scope_id = :scope_id AND session_id = :session;

-- name: drop_mark
-- Windows begin at the first message again, and no summary under way is wanted.
UPDATE sessions SET context_after = NULL, context_moved = NULL, summary_claim = NULL, summary_claim_until = NULL
 WHERE scope_id = :scope_id AND id = :session;

-- name: left_of_session
-- How many messages name a session that is to be gone; one row.
SELECT count(*) FROM messages WHERE {in_session};
