-- sqlite alone: of files of one owner, each of which notes its keys

-- name: sealing_state
-- The key that digests of texts are made with, NULL for bare ones, and the key that all cells are known to be encrypted
-- with; 0 when all are plain, NULL when nobody has looked. One row.
SELECT hashed_by, sealed_by FROM sealing;

-- name: note_sealing
-- Set both.
UPDATE sealing SET hashed_by = :hashed_by, sealed_by = :sealed_by;
