-- text: before, day, since, tenant, user, what
-- integer: amount

-- name: add_usage
-- Add to what a user has used on a day.
INSERT INTO usage (tenant, user, what, day, amount) VALUES (:tenant, :user, :what, :day, :amount)
ON CONFLICT (tenant, user, what, day) DO UPDATE SET amount = usage.amount + excluded.amount;

-- name: usage_since
-- What every user has used on each day since one, unsorted; by index usage_by_day.
SELECT tenant, user, what, day, amount FROM usage WHERE day >= :since;

-- name: keep_usage_of_nobody
-- Count what a user has used as nobody's, so that sums of the tenant stay; by the primary key.
INSERT INTO usage (tenant, user, what, day, amount)
SELECT tenant, '', what, day, amount FROM usage WHERE tenant = :tenant AND user = :user
ON CONFLICT (tenant, user, what, day) DO UPDATE SET amount = usage.amount + excluded.amount;

-- name: drop_usage_of
-- Delete what a user has used; by the primary key.
DELETE FROM usage WHERE tenant = :tenant AND user = :user;

-- name: drop_usage_before
-- Delete what was used before a day; by index usage_by_day.
DELETE FROM usage WHERE day < :before;
