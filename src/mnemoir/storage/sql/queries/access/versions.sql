-- name: version
-- How often tables of access were changed; at most one row.
SELECT CAST(value AS BIGINT) FROM access WHERE name = 'version';

-- name: change
-- Count a change; the number is that of now. Other writers wait for the row until this one ends.
INSERT INTO access (name, value) VALUES ('version', '1')
ON CONFLICT (name) DO UPDATE SET value = CAST(CAST(access.value AS BIGINT) + 1 AS TEXT)
RETURNING CAST(value AS BIGINT);
