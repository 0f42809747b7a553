-- text: after, after_id, at, by, configs, created_at, created_by, expires_at, id, label, name, now, projects
-- text: replaced_by, retention, role, tenant, user, value
-- integer: limit
-- bytes: hash

-- part: columns
k.id, k.hash, k.tenant, k.projects, k.user, k.role, k.label, k.created_at, k.created_by, k.expires_at, k.revoked_at,
       k.replaced_by, k.last_used_at, k.configs

-- name: key
-- One key, and whether its tenant is suspended; at most one row, by the primary key.
SELECT {columns}, t.suspended_at IS NOT NULL
  FROM api_keys AS k JOIN tenants AS t ON t.name = k.tenant WHERE k.id = :id;

-- name: keys
-- The keys of a tenant, of all for NULL, oldest first, after a time and id; by index api_keys_of_tenant for a tenant.
SELECT {columns}
  FROM api_keys AS k
 WHERE (:tenant IS NULL OR k.tenant = :tenant) AND (k.created_at, k.id) > (:after, :after_id)
 ORDER BY k.created_at, k.id LIMIT :limit;

-- name: keys_of_user
-- The keys that are bound to a user, oldest first; by index api_keys_of_tenant.
SELECT {columns} FROM api_keys AS k WHERE k.tenant = :tenant AND k.user = :user ORDER BY k.created_at, k.id;

-- name: keys_left_by
-- The keys that somebody made, also by keys that they made, and those bound to a user; oldest first; by looking at all.
WITH RECURSIVE made (id) AS (
    SELECT id FROM api_keys WHERE created_by = :by
    UNION SELECT later.id FROM api_keys AS later JOIN made ON later.created_by = made.id
)
SELECT {columns} FROM api_keys AS k
 WHERE k.id IN (SELECT id FROM made) OR (k.tenant = :tenant AND k.user = :user) ORDER BY k.created_at, k.id;

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

-- name: put_key
-- Store a new key.
INSERT INTO api_keys (id, hash, tenant, projects, user, role, label, created_at, created_by, expires_at,
                      configs)
VALUES (:id, :hash, :tenant, :projects, :user, :role, :label, :created_at, :created_by, :expires_at, :configs);

-- name: end_key
-- End a key at a time, unless it ends before; note what replaces it.
UPDATE api_keys
   SET revoked_at = CASE WHEN revoked_at < :at THEN revoked_at ELSE :at END,
       replaced_by = coalesce(:replaced_by, replaced_by)
 WHERE id = :id;

-- name: note_use
-- Note when a key was used last.
UPDATE api_keys SET last_used_at = :at WHERE id = :id AND (last_used_at IS NULL OR last_used_at < :at);

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
