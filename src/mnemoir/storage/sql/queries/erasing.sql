-- name: current_rows
-- How many current memories a scope has; from index memories_by_change alone.
SELECT count(*) FROM memories INDEXED BY memories_by_change WHERE scope_id = :scope_id AND valid_to IS NULL;

-- name: make_nobodys
-- Detach a scope from its user, under a name that no other scope has.
UPDATE scopes SET tenant = '', project = '', user = :name WHERE id = :scope_id;

-- name: begin_scope
-- Enter a scope without rows whose revision goes on from the one before.
INSERT INTO scopes (tenant, project, user, changes, removals, next_seq, hashed_by, sealed_by)
VALUES (:tenant, :project, :user, :changes, :removals, :next_seq, :hashed_by, :hashed_by);

-- name: scope_of_nobody
-- A scope that was taken from its user; at most one row, by the unique key.
SELECT id FROM scopes WHERE tenant = '' ORDER BY id LIMIT 1;

-- name: erase_memories
-- Delete some memories and closed states of a scope, and by cascade their index entries; by the primary key.
DELETE FROM memories
 WHERE scope_id = :scope_id
   AND seq IN (SELECT seq FROM memories WHERE scope_id = :scope_id ORDER BY seq LIMIT :limit);

-- name: erase_events
-- Delete some events of a scope; by index history_of_memory.
DELETE FROM history WHERE number IN (SELECT number FROM history WHERE scope_id = :scope_id LIMIT :limit);

-- name: erase_waiting
-- Delete some proposals of a scope; by the primary key.
DELETE FROM proposals
 WHERE scope_id = :scope_id
   AND number IN (SELECT number FROM proposals WHERE scope_id = :scope_id ORDER BY number LIMIT :limit);

-- name: erase_turns
-- Delete some turns of a scope; by index sources_of_scope.
DELETE FROM sources WHERE id IN (SELECT id FROM sources WHERE scope_id = :scope_id LIMIT :limit);

-- name: erase_answers
-- Delete some receipts of a scope; by the primary key.
DELETE FROM receipts
 WHERE scope_id = :scope_id AND key IN (SELECT key FROM receipts WHERE scope_id = :scope_id LIMIT :limit);

-- name: drop_scope
-- Delete a scope without rows.
DELETE FROM scopes WHERE id = :scope_id;

-- name: drop_job
-- Delete a job that no worker has.
DELETE FROM jobs WHERE id = :id AND state <> 'RUNNING';
