-- name: directory
-- The id of the data directory that a file belongs to; at most one row.
SELECT directory FROM identity;

-- name: put_directory
-- Give the file to a data directory.
INSERT OR REPLACE INTO identity (one, directory) VALUES (1, :directory);
