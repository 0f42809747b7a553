-- text: destroyed_at, kek, made_at, now, project, subject, tenant, user
-- integer: id, number
-- bytes: wrapped

-- name: data_key
-- One key; at most one row, by the primary key.
SELECT id, tenant, project, user, number, kek, wrapped FROM data_keys WHERE id = :id;

-- name: newest_key
-- The key of a user that was made last and not destroyed; at most one row, by the unique key.
SELECT id FROM data_keys
 WHERE tenant = :tenant AND project = :project AND user = :user AND wrapped IS NOT NULL
 ORDER BY number DESC LIMIT 1;

-- name: put_key
-- Add the next key of a user; gives its number.
INSERT INTO data_keys (id, tenant, project, user, number, kek, wrapped, made_at)
SELECT :id, :tenant, :project, :user, 1 + coalesce(max(number), 0), :kek, :wrapped, :now FROM data_keys
 WHERE tenant = :tenant AND project = :project AND user = :user;

-- name: keys_of_others
-- The keys that are wrapped by another key of the provider than one; by looking at all.
SELECT id, tenant, project, user, number, kek, wrapped FROM data_keys
 WHERE wrapped IS NOT NULL AND kek <> :kek ORDER BY id;

-- name: wrap_key
-- Wrap one key anew, unless it was destroyed meanwhile.
UPDATE data_keys SET kek = :kek, wrapped = :wrapped WHERE id = :id AND wrapped IS NOT NULL;

-- name: destroy_keys
-- Destroy all keys of a user, and take the name away from them; a destroyed key is looked for by its id alone.
UPDATE data_keys SET wrapped = NULL, destroyed_at = coalesce(destroyed_at, :now), user = 'destroyed:' || id
 WHERE tenant = :tenant AND project = :project AND user = :user;

-- name: owners
-- Whose keys there are, by name; by the unique key.
SELECT DISTINCT tenant, project, user FROM data_keys WHERE wrapped IS NOT NULL ORDER BY tenant, project, user;

-- name: keks
-- How many keys are wrapped by each key of the provider; '' counts the destroyed ones. By looking at all.
SELECT CASE WHEN wrapped IS NULL THEN '' ELSE kek END, count(*) FROM data_keys GROUP BY 1 ORDER BY 1;

-- name: all_keys
-- All keys with all that is stored of them; by looking at all.
SELECT id, tenant, project, user, number, kek, wrapped, made_at, destroyed_at FROM data_keys ORDER BY id;

-- name: copy_key
-- Add a key as it is in another store.
INSERT INTO data_keys (id, tenant, project, user, number, kek, wrapped, made_at, destroyed_at)
VALUES (:id, :tenant, :project, :user, :number, :kek, :wrapped, :made_at, :destroyed_at);

-- name: version
-- How often what a subject names was changed; no row for never.
SELECT number FROM versions WHERE subject = :subject;

-- name: next_version
-- Note one more change.
INSERT INTO versions (subject, number) VALUES (:subject, 1)
ON CONFLICT (subject) DO UPDATE SET number = versions.number + 1;
