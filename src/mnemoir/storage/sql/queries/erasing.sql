-- text: id, kind, name, project, tenant, user
-- integer: changes, hashed_by, next_seq, removals

-- name: current_rows
-- How many current memories a scope has; from index memories_by_change alone.
SELECT count(*) FROM memories {by memories_by_change} WHERE scope_id = :scope_id AND valid_to IS NULL;

-- name: make_nobodys
-- Detach a scope from its user, under a name that no other scope has.
UPDATE scopes SET tenant = '', project = '', user = :name WHERE id = :scope_id;

-- name: begin_scope
-- Enter a scope without rows whose revision goes on from the one before, and whose conversations are those of that.
INSERT INTO scopes (tenant, project, user, kind, changes, removals, next_seq, hashed_by, sealed_by, has_conversations)
SELECT :tenant, :project, :user, :kind, :changes, :removals, :next_seq, :hashed_by, :hashed_by, has_conversations
  FROM scopes WHERE id = :scope_id;

-- name: scope_of_nobody
-- A scope that was taken from its user; at most one row, by the unique key.
SELECT id FROM scopes WHERE tenant = '' ORDER BY id LIMIT 1;

-- name: drop_scope
-- Delete a scope without rows.
DELETE FROM scopes WHERE id = :scope_id;

-- name: drop_job
-- Delete a job that no worker has.
DELETE FROM jobs WHERE id = :id AND state <> 'RUNNING';
