-- text: kind, limits, name, of

-- name: limits
-- The limits of a tenant or a key; at most one row, by the primary key.
SELECT limits FROM limits WHERE kind = :kind AND name = :name;

-- name: put_limits
-- Set the limits of a tenant or a key.
INSERT INTO limits (kind, name, limits) VALUES (:kind, :name, :limits)
ON CONFLICT (kind, name) DO UPDATE SET limits = excluded.limits;

-- name: drop_limits
-- Leave a tenant or a key without limits of its own.
DELETE FROM limits WHERE kind = :kind AND name = :name;

-- name: copy_limits
-- Give a key the limits of another, if that has any.
INSERT INTO limits (kind, name, limits)
SELECT kind, :name, limits FROM limits WHERE kind = 'key' AND name = :of;
