-- text: kek, name, value
-- bytes: wrapped

-- name: get
-- What was saved last by that name; at most one row, by the primary key.
SELECT value, kek, wrapped FROM saved_settings WHERE name = :name;

-- name: put
-- Replace what was saved.
INSERT INTO saved_settings (name, value, kek, wrapped) VALUES (:name, :value, :kek, :wrapped)
ON CONFLICT (name) DO UPDATE SET value = excluded.value, kek = excluded.kek, wrapped = excluded.wrapped;

-- name: drop
-- Remove what was saved.
DELETE FROM saved_settings WHERE name = :name;
