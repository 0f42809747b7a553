-- integer: after, key, limit

-- name: scopes_after
-- Scopes of users in order of their number, with the keys of their digests and of all their cells; by the primary key.
SELECT id, tenant, project, user, kind, hashed_by, sealed_by FROM scopes
 WHERE id > :after AND tenant <> '' ORDER BY id LIMIT :limit;

-- name: set_hash_key
-- Note the key of a scope's digests.
UPDATE scopes SET hashed_by = :key WHERE id = :scope_id;

-- name: set_seal_key
-- Note the key that all cells of a scope are encrypted with; 0 when all are plain, none when unknown.
UPDATE scopes SET sealed_by = :key WHERE id = :scope_id;

-- name: any_keyed
-- At most one row, when anything was encrypted by user.
SELECT 1 FROM scopes WHERE hashed_by IS NOT NULL OR sealed_by > 0 LIMIT 1;

-- name: share
-- How many users have memories or proposals, of how many all is encrypted, and of how many all is known to be plain.
SELECT count(*), count(*) FILTER (WHERE sealed_by > 0 AND hashed_by = sealed_by),
       count(*) FILTER (WHERE sealed_by = 0) FROM scopes WHERE tenant <> '' AND kind = 'memories';

-- name: count_bytes
-- Count the bytes of a scope's messages as they are stored now; by idx_messages_session.
UPDATE scopes SET bytes = (
    SELECT coalesce(sum(coalesce(octet_length(content), 0) + coalesce(octet_length(tool_calls), 0)
                        + coalesce(octet_length(files), 0)), 0)
      FROM messages WHERE messages.scope_id = :scope_id)
 WHERE id = :scope_id;
