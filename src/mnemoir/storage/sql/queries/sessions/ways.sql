-- name: way_behind
-- How the way through a message goes on behind it, up to the head, oldest first: along the thread where it can, else the
-- newest branch. By idx_messages_parent, a step for each message.
WITH RECURSIVE way (id, step) AS (
    SELECT :id, 0
     UNION ALL
    SELECT (SELECT next.id FROM messages AS next WHERE session_id = :session AND parent_id = way.id
             ORDER BY off_thread IS NULL DESC, id DESC LIMIT 1), step + 1
      FROM way WHERE way.id IS NOT NULL AND way.id IS NOT :head
     LIMIT :limit + 1)
SELECT message_rows.id, session, role, content, tool_calls, tool_call_id, name, at, parent_id, turn_id, token_count,
       importance, pinned, files, run_id, finish_reason, off_thread, uid
  FROM way CROSS JOIN message_rows ON message_rows.id = way.id WHERE step > 0 ORDER BY step;

-- name: place_on_thread
-- How many messages of the thread stand in front of one; one row, none for a message off the thread. By
-- idx_messages_thread alone.
SELECT (SELECT count(*) FROM messages
         WHERE session_id = :session AND off_thread IS NULL AND (created_at, id) < (one.created_at, one.id))
  FROM messages AS one WHERE id = :id AND session_id = :session AND off_thread IS NULL;

-- name: branch_runs
-- Messages one behind the other from each beginning of a branch up to the next choice: first, last, parent, how many,
-- whether first and last are off the thread. By id, by idx_messages_parent, a step for each message.
WITH RECURSIVE forks (id) AS (
    SELECT 0
     UNION ALL
    SELECT parent_id FROM messages WHERE session_id = :session AND parent_id > 0 GROUP BY parent_id
    HAVING count(*) > 1),
way (first, id, step) AS (
    SELECT messages.id, messages.id, 1
      FROM forks CROSS JOIN messages ON messages.session_id = :session AND messages.parent_id = forks.id
     UNION ALL
    SELECT first, (SELECT CASE WHEN min(id) = max(id) THEN min(id) END FROM messages
                    WHERE session_id = :session AND parent_id = way.id), step + 1
      FROM way WHERE way.id IS NOT NULL),
way_ends (first, last, count) AS (SELECT first, id, max(step) FROM way WHERE id IS NOT NULL GROUP BY first)
SELECT first, last, begins.parent_id, count, begins.off_thread, ends.off_thread
  FROM way_ends CROSS JOIN messages AS begins ON begins.id = first CROSS JOIN messages AS ends ON ends.id = last
 ORDER BY first;

-- name: cuts
-- Messages of the thread among some (JSON), in its order.
SELECT id FROM messages
 WHERE id IN (SELECT value FROM json_each(:ids)) AND session_id = :session AND off_thread IS NULL
 ORDER BY created_at, id;

-- part: between
session_id = :session AND off_thread IS NULL
           AND (created_at, id) > (coalesce((SELECT created_at FROM messages WHERE id = :after), -9e999), :behind)
           AND (created_at, id) < (coalesce((SELECT created_at FROM messages WHERE id = :before), x'ff'), :in_front)

-- name: stretch
-- The thread between two borders, each a message (0: beginning, end) and a number beside its id: how many messages, what
-- they cost, first and last one, and the same of those that count as important; one row. By idx_messages_thread, without
-- sorting.
SELECT count(*), total(tokens),
       (SELECT id FROM messages WHERE {between} ORDER BY created_at, id LIMIT 1),
       (SELECT id FROM messages WHERE {between} ORDER BY created_at DESC, id DESC LIMIT 1),
       total(apart), total(apart * tokens)
  FROM (SELECT coalesce(estimate, (coalesce(length(content), 0) + coalesce(length(tool_calls), 0)) / 4
               + 85 * coalesce(CASE WHEN json_valid(files) THEN json_array_length(files) END, 0)) AS tokens,
               role = 'system' OR coalesce(pinned = 1, 0) OR coalesce(importance >= :threshold, 0) AS apart
          FROM messages WHERE {between});
