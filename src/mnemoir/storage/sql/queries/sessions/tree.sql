-- text: content, created_at, files, finish_reason, name, new, recalled, role, run_id, session, tool_call_id
-- text: tool_calls, turn_id, uid
-- integer: after, before, count, estimate, id, limit, moved, new_id, parent_id, pinned, token_count
-- real: importance
-- bytes: digest
-- texts: roles

-- part: place
id, {bytes created_at} AS created_at, {bytes turn_id} AS turn_id

-- part: way_to_thread
WITH RECURSIVE way (id, parent_id, off_thread) AS (
    SELECT id, parent_id, off_thread FROM messages WHERE {in_session} AND id = :id
     UNION
    SELECT messages.id, messages.parent_id, messages.off_thread FROM way JOIN messages ON messages.id = way.parent_id
     WHERE {in_session} AND way.off_thread IS NOT NULL)

-- name: note_leaf_removal
-- Record the vector of a message for removal, before it is deleted; by the primary key.
UPDATE embedding_state SET status = 'removed' WHERE scope_id = :scope_id AND message_id = :id AND status <> 'removed';

-- name: drop_leaf
-- Delete a message with nothing behind it that is not on the thread; how many bytes it had. By the primary key and idx_messages_parent.
DELETE FROM messages
 WHERE {in_session} AND id = :id AND off_thread = 1
   AND NOT EXISTS (SELECT 1 FROM messages AS behind
                    WHERE behind.scope_id = :scope_id AND behind.session_id = :session
                      AND behind.parent_id = messages.id)
RETURNING {size};

-- name: head
-- The last message of the thread, by idx_messages_thread.
SELECT {place} FROM messages WHERE {on_thread} ORDER BY messages.created_at DESC, id DESC LIMIT 1;

-- name: place
-- A message of the session; one row.
SELECT {place} FROM messages WHERE {in_session} AND id = :id;

-- name: place_of_uid
-- The same by its uid, by idx_messages_uid.
SELECT {place} FROM messages WHERE {in_session} AND uid = :uid;

-- name: place_at
-- The message of the thread behind which one of that time belongs, by idx_messages_thread.
SELECT {place} FROM messages WHERE {on_thread} AND messages.created_at <= :created_at
 ORDER BY messages.created_at DESC, id DESC LIMIT 1;

-- name: let_in
-- The message of the thread that is next behind another gets it as its parent.
UPDATE messages SET parent_id = :id
 WHERE scope_id = :scope_id
   AND id = (SELECT id FROM messages
              WHERE {on_thread}
                AND (created_at, id)
                    > ((SELECT created_at FROM messages WHERE scope_id = :scope_id AND id = :id), :id)
              ORDER BY created_at, id LIMIT 1)
   AND parent_id IS NOT NULL;

-- name: fork
-- The message of the thread that a message is, or hangs on; one row, 0 for none.
{way_to_thread}
SELECT coalesce((SELECT id FROM way WHERE off_thread IS NULL), 0);

-- name: leave
-- Take the messages after a message off the thread; after 0 all of them.
UPDATE messages SET off_thread = 1
 WHERE {on_thread}
   AND (created_at, id)
       > (coalesce((SELECT created_at FROM messages WHERE scope_id = :scope_id AND id = :id), {before all}), :id);

-- name: join
-- Put a message and its ancestors, up to the thread, on the thread.
UPDATE messages SET off_thread = NULL
 WHERE scope_id = :scope_id AND id IN ({way_to_thread} SELECT id FROM way WHERE off_thread IS NOT NULL);

-- name: drop_left_summary
-- Delete a summary of messages that are not on the thread.
DELETE FROM summaries
 WHERE scope_id = :scope_id AND session_id = :session
   AND NOT EXISTS (SELECT 1 FROM messages
                    WHERE messages.scope_id = :scope_id AND id = upto_message_id AND off_thread IS NULL);

-- name: marked
-- The message after which windows were to begin; one row, NULL for none.
SELECT (SELECT context_after FROM sessions WHERE scope_id = :scope_id AND id = :session);

-- name: move_mark
-- After which message of the thread they begin instead; 0 for none, NULL for the marked one itself.
UPDATE sessions SET context_moved = :moved WHERE scope_id = :scope_id AND id = :session;

-- name: unlinked
-- Rows of a session that no branch was asked about yet, by idx_messages_unlinked.
SELECT id, {bytes role}, {cell messages.content}, {cell messages.tool_calls}, {cell messages.files},
       {bytes uid} AS uid
  FROM messages WHERE {in_session} AND digest IS NULL;

-- name: is_unlinked
-- True when the session has such rows; one row.
SELECT EXISTS (SELECT 1 FROM messages WHERE {in_session} AND digest IS NULL);

-- name: unlinked_sessions
-- Sessions with such rows, by idx_messages_unlinked.
SELECT DISTINCT session_id FROM messages
 WHERE scope_id = :scope_id AND digest IS NULL
   AND EXISTS (SELECT 1 FROM sessions WHERE sessions.scope_id = :scope_id AND sessions.id = session_id)
 LIMIT :limit;

-- name: put_digest
-- Of what a message says.
UPDATE messages SET digest = :digest WHERE scope_id = :scope_id AND id = :id;

-- name: link
-- Each message of the thread gets the one before it as its parent.
UPDATE messages SET parent_id = placed.before
  FROM (SELECT id, lag(id, 1, 0) OVER (ORDER BY created_at, id) AS before FROM messages WHERE {on_thread}) AS placed
 WHERE messages.scope_id = :scope_id AND messages.id = placed.id
   AND messages.parent_id IS DISTINCT FROM placed.before;

-- name: beginning
-- What the first messages of the thread say, oldest first, by idx_messages_thread.
SELECT id, digest FROM messages WHERE {on_thread} AND octet_length(digest) > 0
 ORDER BY created_at, id LIMIT :limit;

-- name: ending
-- What the last messages of the thread say, newest first, by idx_messages_thread.
SELECT id, digest FROM messages WHERE {on_thread} AND octet_length(digest) > 0
 ORDER BY created_at DESC, id DESC LIMIT :limit;

-- name: from_first
-- What the thread says from the first message on that says a certain thing, behind a message of the thread or 0;
-- nothing when none says it. The planner would look for the first one through the whole thread.
SELECT id, digest FROM messages
 WHERE {on_thread} AND octet_length(digest) > 0
   AND (created_at, id) >= (SELECT created_at, id FROM messages {by idx_messages_digest}
                             WHERE {on_thread} AND digest = :digest
                               AND (created_at, id) > (
                                   CASE :after WHEN 0 THEN {before all}
                                   ELSE (SELECT created_at FROM messages
                                          WHERE scope_id = :scope_id AND id = :after AND off_thread IS NULL)
                                   END, :after)
                             ORDER BY created_at, id LIMIT 1)
 ORDER BY created_at, id;

-- name: other_question
-- True when the thread has a question besides one; one row.
SELECT EXISTS (SELECT 1 FROM messages WHERE {on_thread} AND role = 'user' AND id <> :id);

-- name: left_saying
-- Messages off the thread that say a certain thing, with their parents, by idx_messages_digest.
SELECT id, parent_id FROM messages WHERE {in_session} AND digest = :digest AND off_thread IS NOT NULL;

-- name: children_saying
-- The children of a message that say a certain thing, by idx_messages_digest.
SELECT id FROM messages WHERE {in_session} AND digest = :digest AND parent_id = :id;

-- name: children
-- The children of a message, by id, by idx_messages_parent.
SELECT id FROM messages WHERE {in_session} AND parent_id = :id ORDER BY id;

-- name: places_behind
-- The children of a message, by id, by idx_messages_parent.
SELECT id, {bytes created_at} AS created_at, off_thread FROM messages
 WHERE {in_session} AND parent_id = :id ORDER BY id;

-- name: put_behind
-- A message gets another parent.
UPDATE messages SET parent_id = :parent_id WHERE scope_id = :scope_id AND id = :id;

-- name: put_off_thread
-- A message is taken off the thread by itself.
UPDATE messages SET off_thread = 1 WHERE scope_id = :scope_id AND id = :id;

-- name: put_later
-- A message gets a later time.
UPDATE messages SET created_at = :created_at WHERE scope_id = :scope_id AND id = :id;

-- name: drop_summary_over
-- Delete a summary that reaches over a message of the thread.
DELETE FROM summaries
 WHERE scope_id = :scope_id AND session_id = :session
   AND ((SELECT messages.created_at FROM messages WHERE messages.scope_id = :scope_id AND id = upto_message_id),
        upto_message_id)
       > ((SELECT messages.created_at FROM messages WHERE messages.scope_id = :scope_id AND id = :id), :id);

-- name: drop_claim
-- No summary under way is wanted.
UPDATE sessions SET summary_claim = NULL, summary_claim_until = NULL WHERE scope_id = :scope_id AND id = :session;

-- name: newest_end
-- The newest message that a branch with a certain message ends with; one row, the message itself where nothing follows.
WITH RECURSIVE way (id) AS (
    SELECT :id
     UNION
    SELECT messages.id FROM way JOIN messages ON {in_session} AND messages.parent_id = way.id)
SELECT id FROM way
 WHERE NOT EXISTS (SELECT 1 FROM messages WHERE {in_session} AND parent_id = way.id)
 ORDER BY id DESC LIMIT 1;

-- name: way_to
-- A message and what stands before it on its branch, newest first.
WITH RECURSIVE way (id, parent_id, step) AS (
    SELECT id, parent_id, 1 FROM messages WHERE {in_session} AND id = :id AND :limit > 0
     UNION ALL
    SELECT messages.id, messages.parent_id, way.step + 1 FROM way JOIN messages ON messages.id = way.parent_id
     WHERE {in_session} AND way.step < :limit)
SELECT {message}
  FROM way {then join} messages ON messages.scope_id = :scope_id AND messages.id = way.id ORDER BY step;

-- name: step_up
-- The parent of a message, and what the message says; one row.
SELECT parent_id, digest FROM messages WHERE {in_session} AND id = :id;

-- name: roots_saying
-- Beginnings that say a certain thing, newest first, with their sessions, by idx_messages_roots.
SELECT id, session_id FROM messages
 WHERE scope_id = :scope_id AND parent_id = 0 AND digest = :digest
   AND EXISTS (SELECT 1 FROM sessions WHERE sessions.scope_id = :scope_id AND sessions.id = session_id)
 ORDER BY id DESC LIMIT :limit;

-- name: tree
-- Messages of all branches, by id, by idx_messages_session.
SELECT {message} FROM messages {by idx_messages_session}
 WHERE {in_session} AND messages.id > :after ORDER BY messages.id LIMIT :limit;

-- name: structured
-- What is JSON in the messages of all branches, and their roles, of those that have any or an unknown role (`roles` is
-- JSON), unsorted.
SELECT {bytes role}, {cell messages.tool_calls}, {cell messages.files}, {bytes uid} AS uid FROM messages
 WHERE {in_session}
   AND (tool_calls IS NOT NULL OR files IS NOT NULL
        OR coalesce(CAST(role AS TEXT), '') {not in roles});

-- name: with_files
-- Messages of all branches that carry files, newest first, of one session or of all (NULL), by idx_messages_files.
SELECT {message} FROM messages
 WHERE scope_id = :scope_id
   AND messages.id IN (SELECT id FROM messages {by idx_messages_files}
                        WHERE scope_id = :scope_id AND files IS NOT NULL AND id < :before
                          AND (:session IS NULL OR session_id = :session)
                        ORDER BY id DESC LIMIT :limit)
 ORDER BY messages.id DESC;

-- name: next_ids
-- The next ids of messages, which none ever had, so many, ascending.
WITH RECURSIVE way (step) AS (SELECT 1 UNION ALL SELECT step + 1 FROM way WHERE step < :count)
SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'messages'), 0) + step FROM way;

-- postgres: next_ids
SELECT nextval(pg_get_serial_sequence('messages', 'id')) FROM generate_series(1, :count);

-- name: way_of_copy
-- The way to a message, in the order of the thread, with what a copy of each message keeps.
WITH RECURSIVE way (id, parent_id) AS (
    SELECT id, parent_id FROM messages WHERE {in_session} AND id = :id
     UNION
    SELECT messages.id, messages.parent_id FROM way JOIN messages ON messages.id = way.parent_id
     WHERE {in_session})
SELECT {message}, digest, estimate, {cell messages.recalled}
  FROM way JOIN messages ON {unindexed messages.scope_id} = :scope_id AND messages.id = way.id
 ORDER BY messages.created_at, messages.id;

-- name: add_copy
-- A copy of a message, with an id of its own; how many bytes it has.
INSERT INTO messages (scope_id, id, session_id, role, content, tool_calls, tool_call_id, name, created_at, parent_id,
                      turn_id, token_count, importance, pinned, files, run_id, finish_reason, digest, estimate, uid,
                      recalled)
VALUES (:scope_id, :new_id, :new, :role, :content, :tool_calls, :tool_call_id, :name, :created_at, :parent_id,
        :turn_id, :token_count, :importance, :pinned, :files, :run_id, :finish_reason, :digest, :estimate, :uid,
        :recalled)
RETURNING {size};
