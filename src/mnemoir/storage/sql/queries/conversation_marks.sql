-- integer: is_there

-- name: has_conversations
-- 1 for a scope whose file of conversations must be there, else 0; at most one row, by the primary key.
SELECT has_conversations FROM scopes WHERE id = :scope_id;

-- name: mark
-- Note whether the file of conversations of a scope must be there.
UPDATE scopes SET has_conversations = :is_there WHERE id = :scope_id AND has_conversations <> :is_there;

-- name: unmark_all
-- Note that no file of conversations must be there.
UPDATE scopes {by scopes_with_conversations} SET has_conversations = 0 WHERE has_conversations = 1;

-- name: marked
-- Whose file of conversations must be there: tenant, project and user, in this order; from its index alone.
SELECT tenant, project, user FROM scopes {by scopes_with_conversations}
 WHERE has_conversations = 1 AND tenant <> '' ORDER BY tenant, project, user;
