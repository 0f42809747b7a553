-- text: before, session, since, tenant

-- name: owners
-- Everybody who has conversations, by tenant, project and user; by looking at all scopes.
SELECT tenant, project, user FROM scopes WHERE tenant <> '' AND conversations > 0 ORDER BY 1, 2, 3;

-- name: owners_with
-- Those who have a conversation of an id, in the same order; by idx_sessions_id.
SELECT tenant, project, user
  FROM sessions {by idx_sessions_id} JOIN scopes ON scopes.id = sessions.scope_id
 WHERE sessions.id = :session AND tenant <> '' ORDER BY 1, 2, 3;

-- name: owners_used_before
-- Those who have one that was last used before a time; by idx_sessions_used, a look for each scope.
SELECT tenant, project, user FROM scopes
 WHERE tenant <> '' AND conversations > 0
   AND EXISTS (SELECT 1 FROM sessions WHERE scope_id = scopes.id AND updated_at < :before)
 ORDER BY 1, 2, 3;

-- name: totals
-- The conversations of all users, their messages and the bytes of these; one row, by looking at all scopes.
SELECT coalesce(sum(conversations), 0), coalesce(sum(messages), 0), coalesce(sum(bytes), 0), max(last_used)
  FROM scopes WHERE tenant <> '';

-- name: totals_by_user
-- The same for each user of a tenant that has any, in all projects together; by the unique key of scopes.
SELECT user, sum(conversations), sum(messages), sum(bytes), max(last_used) FROM scopes
 WHERE tenant = :tenant AND conversations > 0 GROUP BY user;

-- name: messages_by_day
-- How many messages there are of each day since one, in order of day; by idx_messages_created, a look for each scope.
SELECT substr(messages.created_at, 1, 10), count(*)
  FROM scopes {then join} messages {by idx_messages_created}
    ON messages.scope_id = scopes.id AND messages.created_at >= :since
 WHERE tenant <> '' AND scopes.messages > 0
 GROUP BY 1 ORDER BY 1;
