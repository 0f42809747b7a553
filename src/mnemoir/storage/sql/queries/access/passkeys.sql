-- text: id, label, now, user
-- integer: former, sign_count
-- bytes: credential, public_key

-- part: columns
p.id, p.user, p.credential, p.public_key, p.sign_count, p.label, p.created_at, p.last_used_at

-- name: put
-- Store a new passkey.
INSERT INTO passkeys (id, user, credential, public_key, sign_count, label, created_at)
VALUES (:id, :user, :credential, :public_key, :sign_count, :label, :now);

-- name: by_credential
-- The passkey with that id of its authenticator; at most one row.
SELECT {columns} FROM passkeys AS p WHERE p.credential = :credential;

-- name: of_user
-- The passkeys of a user, oldest first; by index passkeys_of_user.
SELECT {columns} FROM passkeys AS p WHERE p.user = :user ORDER BY p.created_at, p.id;

-- name: used
-- Note a passkey's use and the new count of its signatures, unless another use overtook it.
UPDATE passkeys SET sign_count = :sign_count, last_used_at = :now WHERE id = :id AND sign_count = :former;

-- name: remove
-- Remove a passkey of a user.
DELETE FROM passkeys WHERE id = :id AND user = :user;

-- name: drop_all
-- Remove all passkeys of a user.
DELETE FROM passkeys WHERE user = :user;
