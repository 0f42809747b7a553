-- text: at, id, name, now, replaced_by, retention, tenant, user, value

-- name: users_of_keys
-- The tenants and users that keys are bound to, each once; by looking at all.
SELECT DISTINCT tenant, user FROM api_keys WHERE user IS NOT NULL;

-- name: erase_user
-- End the keys of a user, and replace the name; by index api_keys_of_tenant.
UPDATE api_keys SET user = :name, label = '', revoked_at = CASE WHEN revoked_at < :at THEN revoked_at ELSE :at END
 WHERE tenant = :tenant AND user = :user;

-- name: any_key
-- A row when any key or user was ever made, whatever became of it.
SELECT 1 FROM api_keys UNION ALL SELECT 1 FROM access WHERE name = 'users_made' LIMIT 1;

-- name: two_keys
-- Two rows when at least two keys were not revoked, or users not disabled.
SELECT 1 FROM api_keys WHERE revoked_at IS NULL UNION ALL SELECT 1 FROM users WHERE disabled_at IS NULL LIMIT 2;

-- name: replace_key
-- Note what replaces a key.
UPDATE api_keys SET replaced_by = :replaced_by WHERE id = :id;

-- name: tenants
-- All tenants with the number of their keys, by name.
SELECT t.name, t.suspended_at, t.created_at, count(k.id)
  FROM tenants AS t LEFT JOIN api_keys AS k ON k.tenant = t.name GROUP BY t.name ORDER BY t.name;

-- name: enter_tenant
-- Add a tenant, unless it is there.
INSERT INTO tenants (name, created_at) VALUES (:name, :now) ON CONFLICT DO NOTHING;

-- name: suspend_tenant
-- Suspend a tenant, or let it go on for NULL.
UPDATE tenants SET suspended_at = CASE WHEN :at IS NULL THEN NULL ELSE coalesce(suspended_at, :at) END
 WHERE name = :name;

-- name: retention_of
-- For how many days a tenant keeps things; at most one row, by the primary key.
SELECT retention FROM tenants WHERE name = :name;

-- name: set_retention
-- Set for how many days a tenant keeps things; NULL for what the settings say.
UPDATE tenants SET retention = :retention WHERE name = :name;

-- name: decided
-- What was decided of this name; at most one row.
SELECT value FROM access WHERE name = :name;

-- name: decide
-- Decide it.
INSERT INTO access (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: undecide
-- Take back what was decided.
DELETE FROM access WHERE name = :name;

-- name: suspended
-- The names of suspended tenants.
SELECT name FROM tenants WHERE suspended_at IS NOT NULL;
