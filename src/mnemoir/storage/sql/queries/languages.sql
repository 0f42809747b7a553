-- text: language

-- name: last_language
-- The language of the user's last question of some length; at most one row, by the primary key.
SELECT language FROM scopes WHERE id = :scope_id;

-- name: note_language
-- Replace it, by the primary key.
UPDATE scopes SET language = :language WHERE id = :scope_id;
