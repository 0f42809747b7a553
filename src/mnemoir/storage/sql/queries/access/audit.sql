-- text: action, actor, address, at, before, day, request_id, result, target, tenant, user
-- integer: after, below, count, limit, number, of
-- bytes: chain, names, subject

-- part: columns
number, at, tenant, actor, action, target, user, result, request_id, address, of, count, names, subject, chain

-- name: last
-- The last row's number and chain; at most one row, by the primary key.
SELECT number, chain FROM audit ORDER BY number DESC LIMIT 1;

-- name: put
-- Append a row.
INSERT INTO audit
    (number, at, tenant, actor, action, target, user, result, request_id, address, of, count, names, subject, chain)
VALUES
    (:number, :at, :tenant, :actor, :action, :target, :user, :result, :request_id, :address, :of, :count, :names,
     :subject, :chain);

-- name: of_subject
-- The rows about a user, in order; by index audit_of_subject.
SELECT {columns} FROM audit WHERE subject = :subject ORDER BY number;

-- name: erase_names
-- Erase the names in the rows about a user; by index audit_of_subject.
UPDATE audit SET target = '', user = '', address = '' WHERE subject = :subject AND (user <> '' OR address <> '');

-- name: erasure
-- A row when a user was erased; by index audit_of_subject.
SELECT 1 FROM audit WHERE subject = :subject AND action = :action AND result = 'done' LIMIT 1;

-- name: erased_subjects
-- The users who were erased, each once; by looking at all.
SELECT DISTINCT subject FROM audit WHERE action = :action AND result = 'done' AND subject IS NOT NULL;

-- name: after
-- Rows after a number, in order; by the primary key.
SELECT {columns} FROM audit WHERE number > :after ORDER BY number LIMIT :limit;

-- name: newest
-- Rows before a number, newest first, of a tenant, or of all for NULL; by the primary key or index audit_of_tenant.
SELECT {columns} FROM audit
 WHERE number < :below AND (:tenant IS NULL OR tenant = :tenant) AND (:action IS NULL OR action = :action)
   AND (:actor IS NULL OR actor = :actor) AND (:day IS NULL OR substr(at, 1, 10) = :day)
 ORDER BY number DESC LIMIT :limit;

-- name: open
-- Acts that were begun before a time and have no result, oldest first; by looking at all acts.
SELECT {columns} FROM audit AS a
 WHERE result = 'begun' AND at < :before AND NOT EXISTS (SELECT 1 FROM audit AS r WHERE r.of = a.number)
 ORDER BY number LIMIT :limit;

-- name: last_before
-- The number of the last row written before a time, unless it is the last row of all; one row, NULL for none.
SELECT max(number) FROM audit WHERE at < :before AND number < (SELECT max(number) FROM audit);

-- name: drop_to
-- Remove rows up to a number.
DELETE FROM audit WHERE number <= :number;

-- name: row
-- One row; by the primary key.
SELECT {columns} FROM audit WHERE number = :number;
