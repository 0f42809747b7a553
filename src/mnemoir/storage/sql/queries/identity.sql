-- text: directory, owner

-- name: identity
-- The id of the data directory that a file belongs to, and whose it is in there; at most one row.
SELECT directory, owner FROM identity;

-- name: put_identity
-- Give the file to a data directory and an owner.
INSERT INTO identity (one, directory, owner) VALUES (1, :directory, :owner)
ON CONFLICT (one) DO UPDATE SET directory = excluded.directory, owner = excluded.owner;

-- name: put_owner
-- Give the file to another owner in its data directory.
UPDATE identity SET owner = :owner WHERE owner <> :owner;
