-- text: reason, set_at, set_by, tenant, user

-- name: set_hold
-- Put a user on hold, or give the hold another reason.
INSERT INTO holds (tenant, user, reason, set_at, set_by) VALUES (:tenant, :user, :reason, :set_at, :set_by)
ON CONFLICT (tenant, user) DO UPDATE SET reason = excluded.reason;

-- name: clear_hold
-- Lift a hold.
DELETE FROM holds WHERE tenant = :tenant AND user = :user;

-- name: hold
-- A row when a user is on hold; by the primary key.
SELECT 1 FROM holds WHERE tenant = :tenant AND user = :user;

-- name: holds
-- All holds, by tenant and user.
SELECT tenant, user, reason, set_at, set_by FROM holds ORDER BY tenant, user;
