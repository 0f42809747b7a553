-- text: kind, last_used, project, tenant, user
-- integer: bytes, conversations, hashed_by, messages

-- name: scope_id
-- The number of a user's scope; at most one row, by the unique key.
SELECT {entered id} FROM scopes WHERE tenant = :tenant AND project = :project AND user = :user AND kind = :kind;

-- name: held_scope_id
-- The same, for a write: no other one of the scope begins before this one ends.
SELECT {entered id} FROM scopes WHERE tenant = :tenant AND project = :project AND user = :user AND kind = :kind {held};

-- name: hold_number
-- The same for the scope of a number.
SELECT id FROM scopes WHERE id = :scope_id {held};

-- name: enter_scope
-- Insert a user's scope unless it exists.
INSERT INTO scopes (tenant, project, user, kind, hashed_by, sealed_by)
VALUES (:tenant, :project, :user, :kind, :hashed_by, :hashed_by) ON CONFLICT DO NOTHING;

-- name: owner_of_scope
-- Whose scope it is, and the key of its digests; at most one row, by the primary key.
SELECT tenant, project, user, hashed_by FROM scopes WHERE id = :scope_id;

-- name: count_log
-- Add to the counters of a scope's conversations; by the primary key.
UPDATE scopes
   SET conversations = conversations + :conversations, messages = messages + :messages, bytes = bytes + :bytes,
       last_used = CASE WHEN :last_used IS NULL OR last_used > :last_used THEN last_used ELSE :last_used END
 WHERE id = :scope_id;

-- name: log_amounts
-- These counters; at most one row, by the primary key.
SELECT conversations, messages, bytes, last_used FROM scopes WHERE id = :scope_id;
