-- text: address, agent, at, begun_before, but, id, now, unused_since, user
-- bytes: hash

-- part: columns
s.id, s.user, s.created_at, s.last_seen_at, s.agent, s.address, s.confirmed_at

-- name: begin
-- Store a new session.
INSERT INTO user_sessions (id, hash, user, created_at, last_seen_at, agent, address)
VALUES (:id, :hash, :user, :now, :now, :agent, :address);

-- name: usable
-- The session with that token's hash, of a user who may sign in; at most one row.
SELECT {columns}
  FROM user_sessions AS s JOIN users AS u ON u.id = s.user JOIN tenants AS t ON t.name = u.tenant
 WHERE s.hash = :hash AND u.disabled_at IS NULL AND t.suspended_at IS NULL;

-- name: of_user
-- The sessions of a user, newest first; by index sessions_of_user.
SELECT {columns} FROM user_sessions AS s WHERE s.user = :user ORDER BY s.created_at DESC, s.id;

-- name: saw
-- Note when a session was used last.
UPDATE user_sessions SET last_seen_at = :at WHERE id = :id AND last_seen_at < :at;

-- name: confirm
-- Note that whoever has a session showed again who they are.
UPDATE user_sessions SET confirmed_at = :at WHERE id = :id;

-- name: end
-- End a session of a user.
DELETE FROM user_sessions WHERE id = :id AND user = :user;

-- name: end_others
-- End all sessions of a user but one.
DELETE FROM user_sessions WHERE user = :user AND id != :but;

-- name: drop_old
-- Remove the sessions that ended: not used since one time, or begun before another.
DELETE FROM user_sessions WHERE last_seen_at <= :unused_since OR created_at <= :begun_before;
