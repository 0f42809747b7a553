-- text: at, begun_before, id, unused_since

-- name: confirm
-- Note that whoever has a session showed again who they are.
UPDATE user_sessions SET confirmed_at = :at WHERE id = :id;

-- name: drop_old
-- Remove the sessions that ended: not used since one time, or begun before another.
DELETE FROM user_sessions WHERE last_seen_at <= :unused_since OR created_at <= :begun_before;
