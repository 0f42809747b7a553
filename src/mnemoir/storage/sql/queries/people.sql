-- name: projects_of
-- The projects in which a user of a tenant has, or had, anything, by name; by the unique key of scopes.
SELECT project FROM scopes WHERE tenant = :tenant AND user = :user ORDER BY project;

-- name: names
-- Every user with a scope, or in a project file: tenant, project and name, in this order; by looking at all.
SELECT tenant, project, user FROM scopes WHERE tenant <> ''
UNION SELECT p.tenant, p.project, f.user FROM file_projects AS p JOIN file_index AS f ON f.project_number = p.number
ORDER BY 1, 2, 3;

-- name: drop_name
-- Delete the scope of a user of whom nothing is left; by its number.
DELETE FROM scopes
 WHERE id = :scope_id
   AND NOT EXISTS (SELECT 1 FROM memories WHERE scope_id = :scope_id)
   AND NOT EXISTS (SELECT 1 FROM history WHERE scope_id = :scope_id)
   AND NOT EXISTS (SELECT 1 FROM sources WHERE scope_id = :scope_id)
   AND NOT EXISTS (SELECT 1 FROM proposals WHERE scope_id = :scope_id)
   AND NOT EXISTS (SELECT 1 FROM receipts WHERE scope_id = :scope_id);

-- name: drop_file_index
-- Delete what was derived of a user's memories in project files; by the unique key.
DELETE FROM file_index
 WHERE user = :user
   AND project_number IN (SELECT number FROM file_projects WHERE tenant = :tenant AND project = :project);

-- name: states
-- All memories of a scope, closed ones too, in the order in which they were stored; by the primary key.
SELECT seq, id, kind, agent, app, conversation, role, speaker, created_at, updated_at, expires_on, valid_to,
       replaced_by, text, metadata, extra
  FROM memories WHERE scope_id = :scope_id ORDER BY seq;

-- name: events
-- The whole history of a scope, oldest first; by index history_of_scope.
SELECT number, memory_id, event, at, reason, model, source_id, change_id, undo_of, agent, app, conversation, old_text,
       new_text, state
  FROM history WHERE scope_id = :scope_id ORDER BY number;

-- name: turns
-- What was said that memories were made of; by index sources_of_scope.
SELECT id, session, turns FROM sources WHERE scope_id = :scope_id ORDER BY id;

-- name: waiting
-- The proposals of a scope, oldest first; by the primary key.
SELECT number, id, event, memory_id, agent, app, conversation, reason, at, successor, model, session, source_id, text,
       previous_text, state
  FROM proposals WHERE scope_id = :scope_id ORDER BY number;

-- name: answers
-- The answers of the last day that a repeated request would get; by the primary key.
SELECT key, reason, given_at, applied, proposed FROM receipts WHERE scope_id = :scope_id ORDER BY key;

-- name: values
-- What placeholders stand for, and where; the value is NULL where it may not be turned back. By the primary key.
SELECT label, kind, number, about, session_id, original
  FROM pii_values WHERE scope_id = :scope_id ORDER BY kind, number, about, session_id;

-- name: amounts
-- How much a scope has in each table; one row.
SELECT (SELECT count(*) FROM memories WHERE scope_id = :scope_id),
       (SELECT count(*) FROM history WHERE scope_id = :scope_id),
       (SELECT count(*) FROM sources WHERE scope_id = :scope_id),
       (SELECT count(*) FROM proposals WHERE scope_id = :scope_id),
       (SELECT count(*) FROM receipts WHERE scope_id = :scope_id),
       (SELECT count(*) FROM pii_values WHERE scope_id = :scope_id);

-- name: has_rows
-- Whether anything is stored within a scope; one row.
SELECT EXISTS (SELECT 1 FROM memories WHERE scope_id = :scope_id)
    OR EXISTS (SELECT 1 FROM history WHERE scope_id = :scope_id)
    OR EXISTS (SELECT 1 FROM sources WHERE scope_id = :scope_id)
    OR EXISTS (SELECT 1 FROM proposals WHERE scope_id = :scope_id)
    OR EXISTS (SELECT 1 FROM receipts WHERE scope_id = :scope_id)
    OR EXISTS (SELECT 1 FROM pii_values WHERE scope_id = :scope_id);

-- name: has_key
-- Whether anything of a scope was encrypted, or its digests made with a key; by its number.
SELECT 1 FROM scopes WHERE id = :scope_id AND (hashed_by IS NOT NULL OR coalesce(sealed_by, 0) <> 0);

-- name: give_scope
-- Give a scope, with all its rows, to another user of the project; by its number.
UPDATE scopes SET user = :user WHERE id = :scope_id;
