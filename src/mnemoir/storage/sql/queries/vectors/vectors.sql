-- sqlite alone: the vectors of messages have a file of their own

-- name: note_second
-- Store how far the second model has looked.
INSERT OR REPLACE INTO second_state (one, model, epoch, seen) VALUES (1, :model, :epoch, :seen);

-- name: drop_second
-- Nothing of a second model is left.
DELETE FROM second_vectors;

-- name: unseen
-- Texts written after a change that have no second vector, or one of another model, by vectors_by_change.
SELECT id, change, document FROM vectors
 WHERE change > :seen AND (:is_other OR row NOT IN (SELECT row FROM second_vectors)) ORDER BY change LIMIT :limit;

-- name: put_second
-- Store the second vector of a text that has not changed since.
INSERT OR REPLACE INTO second_vectors (row, vector) SELECT row, :vector FROM vectors WHERE id = :id AND change = :since
RETURNING row;

-- name: renumber
-- Count a row as written, for the indexes.
UPDATE vectors SET change = :change WHERE row = :row;

-- name: tables
-- The names of the file's tables.
SELECT name FROM sqlite_schema WHERE type = 'table';

-- name: state
-- One row, with how far the second model has looked; NULL there before it has.
SELECT state.epoch, changes, removals, dimension, state.model, s.model, s.epoch, s.seen
  FROM state LEFT JOIN second_state AS s ON s.one = state.one;

-- name: note_changes
-- Set the counts of written and removed vectors, and the dimension.
UPDATE state SET changes = :changes, removals = :removals, dimension = :dimension;

-- name: note_model
-- Store the name of the vectors' model.
UPDATE state SET model = :model;

-- name: restart
-- Reset the state after deleting all vectors.
UPDATE state SET epoch = :epoch, changes = 0, removals = 0, dimension = NULL, model = NULL;

-- name: put
-- Store a vector, replacing the one with its id.
INSERT INTO vectors (id, change, vector, document, metadata, token_ids, token_codes)
VALUES (:id, :change, :vector, :document, :metadata, :token_ids, :token_codes)
    ON CONFLICT (id) DO UPDATE SET change = excluded.change, vector = excluded.vector, document = excluded.document,
       metadata = excluded.metadata, token_ids = excluded.token_ids, token_codes = excluded.token_codes;

-- name: metadata
-- One row by id, or none.
SELECT metadata FROM vectors WHERE id = :id;

-- name: change
-- Replace what a vector stands for, where it is not NULL; its tokens stay.
UPDATE vectors SET change = :change, vector = coalesce(:vector, vector), document = coalesce(:document, document),
       metadata = coalesce(:metadata, metadata)
 WHERE id = :id;

-- name: drop
-- The row of an id, if it was there.
DELETE FROM vectors WHERE id = :id RETURNING row;

-- name: drop_all
-- Nothing is left.
DELETE FROM vectors;

-- name: count
-- One row.
SELECT count(*) FROM vectors;

-- name: since
-- Vectors written after a change, for the resident matrix, by vectors_by_change.
SELECT row, vector, metadata, id FROM vectors WHERE change > :change ORDER BY change, row;

-- name: ids_since
-- Ids written after a change and not after another, for an index, by vectors_by_change.
SELECT id FROM vectors WHERE change > :change AND change <= :until ORDER BY change, row;

-- name: vectors_of
-- The existing vectors by id.
SELECT id, v.vector, token_ids, s.vector FROM vectors AS v LEFT JOIN second_vectors AS s ON s.row = v.row
 WHERE id IN (SELECT value FROM json_each(:ids));

-- name: live
-- The numbers of all rows, ascending.
SELECT row FROM vectors ORDER BY row;

-- name: of_rows
-- Documents by row.
SELECT row, id, document, metadata FROM vectors WHERE row IN (SELECT value FROM json_each(:rows));

-- name: rows_of
-- Rows by id, ascending.
SELECT row FROM vectors WHERE id IN (SELECT value FROM json_each(:ids)) ORDER BY row;

-- name: token_codes
-- By id, for those that have them.
SELECT id, token_codes FROM vectors
 WHERE id IN (SELECT value FROM json_each(:ids)) AND token_codes IS NOT NULL;
