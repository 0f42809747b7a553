-- text: after, after_id, at, called, configs, created_at, created_by, disabled_at, former, id, issuer, memory_user
-- text: name, now, password, projects, role, subject, tenant, time_zone, user
-- integer: is_operator, limit

-- part: columns
u.id, u.name, u.tenant, u.role, u.is_operator, u.memory_user, u.projects, u.configs, u.created_at, u.created_by,
       u.disabled_at, u.last_seen_at, u.password IS NOT NULL, (SELECT count(*) FROM passkeys AS p WHERE p.user = u.id),
       u.time_zone, u.password

-- name: by_id
-- One user; at most one row, by the primary key.
SELECT {columns} FROM users AS u WHERE u.id = :id;

-- name: by_name
-- One user, by the name as it is compared; at most one row.
SELECT {columns} FROM users AS u WHERE u.called = :called;

-- name: all
-- The users of a tenant, of all for NULL, oldest first, after a time and id; by index users_of_tenant for a tenant.
SELECT {columns}
  FROM users AS u
 WHERE (:tenant IS NULL OR u.tenant = :tenant) AND (u.created_at, u.id) > (:after, :after_id)
 ORDER BY u.created_at, u.id LIMIT :limit;

-- name: any
-- A row when there is a user.
SELECT 1 FROM users LIMIT 1;

-- name: by_memory
-- A row when a memory user of a tenant is that of a user, of a key, or of an open invitation.
SELECT id FROM users WHERE tenant = :tenant AND memory_user = :memory_user
UNION ALL SELECT id FROM api_keys WHERE tenant = :tenant AND user = :memory_user AND revoked_at IS NULL
UNION ALL SELECT id FROM invitations
 WHERE tenant = :tenant AND memory_user = :memory_user AND expires_at > :now
 LIMIT 1;

-- name: put
-- Store a new user.
INSERT INTO users (id, name, called, tenant, role, is_operator, memory_user, projects, configs, password, created_at,
                   created_by)
VALUES (:id, :name, :called, :tenant, :role, :is_operator, :memory_user, :projects, :configs, :password, :created_at,
        :created_by);

-- name: change
-- Change what a user may, and whether they may sign in.
UPDATE users
   SET role = :role, is_operator = :is_operator, memory_user = :memory_user, projects = :projects, configs = :configs,
       disabled_at = :disabled_at
 WHERE id = :id;

-- name: set_time_zone
-- Set the time zone of a user, NULL for none.
UPDATE users SET time_zone = :time_zone WHERE id = :id;

-- name: time_zone_of_memory
-- The time zone of the oldest user of a tenant who has one and whose memories are a memory user's; at most one row.
SELECT u.time_zone
  FROM users AS u
 WHERE u.tenant = :tenant AND u.memory_user = :memory_user AND u.time_zone IS NOT NULL
 ORDER BY u.created_at, u.id LIMIT 1;

-- name: set_password
-- Set the hash of a user's password.
UPDATE users SET password = :password WHERE id = :id;

-- name: swap_password
-- Set the hash of a user's password, if the former one still stands; by the primary key.
UPDATE users SET password = :password WHERE id = :id AND password = :former;

-- name: saw_user
-- Note when a user was here last.
UPDATE users SET last_seen_at = :at WHERE id = :id;

-- name: remove_user
-- Remove a user; what belongs to them goes before.
DELETE FROM users WHERE id = :id;

-- name: by_identity
-- The user whom an issuer knows by that subject; at most one row.
SELECT {columns}
  FROM identities AS n JOIN users AS u ON u.id = n.user WHERE n.issuer = :issuer AND n.subject = :subject;

-- name: put_identity
-- Store that an issuer knows a user by a subject.
INSERT INTO identities (issuer, subject, user, created_at) VALUES (:issuer, :subject, :user, :now);

-- name: drop_identities
-- Remove what issuers know a user by.
DELETE FROM identities WHERE user = :user;
