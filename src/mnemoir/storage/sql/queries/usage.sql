-- name: add_usage
-- Add to what a user has used on a day.
INSERT INTO usage (tenant, user, what, day, amount) VALUES (:tenant, :user, :what, :day, :amount)
ON CONFLICT (tenant, user, what, day) DO UPDATE SET amount = amount + excluded.amount;

-- name: usage_since
-- What every user has used on each day since one, unsorted; by index usage_by_day.
SELECT tenant, user, what, day, amount FROM usage WHERE day >= :since;

-- name: drop_usage_before
-- Delete what was used before a day; by index usage_by_day.
DELETE FROM usage WHERE day < :before;
