-- sqlite alone: of files of one owner

-- name: tables_of
-- The names of the file's tables.
SELECT name FROM sqlite_schema WHERE type = 'table';

-- name: columns_of
-- The names of a table's columns.
SELECT name FROM pragma_table_info(:table);

-- name: start_ids
-- Let message ids begin above a number.
INSERT INTO sqlite_sequence (name, seq) VALUES ('messages', :last);
