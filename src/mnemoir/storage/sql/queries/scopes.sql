-- name: scope_id
-- The number of a user's scope; at most one row, by the unique key.
SELECT id FROM scopes WHERE tenant = :tenant AND project = :project AND user = :user;

-- name: enter_scope
-- Enter a user's scope; nothing happens when it is there.
INSERT INTO scopes (tenant, project, user) VALUES (:tenant, :project, :user) ON CONFLICT DO NOTHING;
