-- text: session
-- integer: after, before, head, id, limit
-- real: behind, in_front, threshold
-- integers: ids

-- name: way_behind
-- How the way through a message goes on behind it, up to the head, oldest first: along the thread where it can, else the
-- newest branch. By idx_messages_parent, a step for each message.
WITH RECURSIVE way (id, step) AS (
    SELECT :id, 0
     UNION ALL
    SELECT (SELECT messages.id FROM messages WHERE {in_session} AND parent_id = way.id
             ORDER BY off_thread IS NULL DESC, messages.id DESC LIMIT 1), step + 1
      FROM way WHERE way.id IS NOT NULL AND way.id IS DISTINCT FROM :head
       AND way.step < :limit)
SELECT {message}
  FROM way {then join} messages ON messages.scope_id = :scope_id AND messages.id = way.id
 WHERE step > 0 ORDER BY step;

-- name: place_on_thread
-- How many messages of the thread stand in front of one; one row, none for a message off the thread. By
-- idx_messages_thread alone.
SELECT (SELECT count(*) FROM messages
         WHERE {on_thread} AND (messages.created_at, messages.id) < (one.created_at, one.id))
  FROM messages AS one
 WHERE scope_id = :scope_id AND id = :id AND session_id = :session AND off_thread IS NULL;

-- name: branch_runs
-- Messages one behind the other from each beginning of a branch up to the next choice: first, last, parent, how many,
-- whether first and last are off the thread. By id, by idx_messages_parent, a step for each message.
WITH RECURSIVE forks (id) AS (
    SELECT 0
     UNION ALL
    SELECT parent_id FROM messages WHERE {in_session} AND parent_id > 0 GROUP BY parent_id
    HAVING count(*) > 1),
way (first, last, id, step) AS (
    SELECT messages.id, messages.id, messages.id, 0
      FROM forks {then join} messages ON {in_session} AND messages.parent_id = forks.id
     UNION ALL
    SELECT first, way.id, (SELECT CASE WHEN min(messages.id) = max(messages.id) THEN min(messages.id) END
                             FROM messages WHERE {in_session} AND parent_id = way.id), step + 1
      FROM way WHERE way.id IS NOT NULL),
way_ends (first, last, count) AS (SELECT first, last, step FROM way WHERE id IS NULL)
SELECT first, last, begins.parent_id, count, begins.off_thread, ends.off_thread
  FROM way_ends {then join} messages AS begins ON begins.scope_id = :scope_id AND begins.id = first
       {then join} messages AS ends ON ends.scope_id = :scope_id AND ends.id = last
 ORDER BY first;

-- name: cuts
-- Messages of the thread among some (JSON), in its order.
SELECT id FROM messages WHERE {on_thread} AND id {in ids} ORDER BY created_at, id;

-- part: between
{on_thread}
           AND (created_at, id) > (coalesce((SELECT created_at FROM messages
                                              WHERE scope_id = :scope_id AND id = :after), {before all}), :behind)
           AND (created_at, id) < (coalesce((SELECT created_at FROM messages
                                              WHERE scope_id = :scope_id AND id = :before), {behind all}), :in_front)

-- name: stretch
-- The thread between two borders, each a message (0: beginning, end) and a number beside its id: how many messages, what
-- they cost, first and last one, and the same of those that count as important; one row. By idx_messages_thread, without
-- sorting.
SELECT count(*), coalesce(sum(tokens), 0),
       (SELECT id FROM messages WHERE {between} ORDER BY created_at, id LIMIT 1),
       (SELECT id FROM messages WHERE {between} ORDER BY created_at DESC, id DESC LIMIT 1),
       count(*) FILTER (WHERE apart), coalesce(sum(tokens) FILTER (WHERE apart), 0)
  FROM (SELECT coalesce(estimate, {cost}) AS tokens,
               role = 'system' OR coalesce(pinned = 1, FALSE) OR coalesce(importance >= :threshold, FALSE) AS apart
          FROM messages WHERE {between}) AS between_borders;
