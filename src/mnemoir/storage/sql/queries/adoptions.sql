-- text: new_user, project, tenant, user

-- name: begun_adoptions
-- All adoptions that have not ended, by their primary key.
SELECT tenant, project, user, new_user FROM adoptions ORDER BY tenant, project, user;

-- name: begin_adoption
-- Note that what a user has in a project is being given to another one.
INSERT INTO adoptions (tenant, project, user, new_user) VALUES (:tenant, :project, :user, :new_user)
ON CONFLICT DO NOTHING;

-- name: end_adoption
-- Note that all of it is given, or none; by the primary key.
DELETE FROM adoptions WHERE tenant = :tenant AND project = :project AND user = :user;

-- name: has_key
-- Whether anything of a scope was encrypted, or its digests made with a key; by its number.
SELECT 1 FROM scopes WHERE id = :scope_id AND (hashed_by IS NOT NULL OR coalesce(sealed_by, 0) <> 0);

-- name: give_scope
-- Give a scope, with all its rows, to another user of the project; by its number.
UPDATE scopes SET user = :user WHERE id = :scope_id;
