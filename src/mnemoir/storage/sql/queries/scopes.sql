-- name: scope_id
-- The number of a user's scope; at most one row, by the unique key.
SELECT id FROM scopes WHERE tenant = :tenant AND project = :project AND user = :user;

-- name: enter_scope
-- Insert a user's scope unless it exists.
INSERT INTO scopes (tenant, project, user) VALUES (:tenant, :project, :user) ON CONFLICT DO NOTHING;
