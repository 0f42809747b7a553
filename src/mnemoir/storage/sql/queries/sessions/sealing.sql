-- integer: hashed_by, sealed_by

-- name: sealing_state
-- The key that digests of texts are made with, NULL for bare ones, and the key that all cells are known to be encrypted
-- with; 0 when all are plain, NULL when nobody has looked. One row.
SELECT hashed_by, sealed_by FROM sealing;

-- name: note_sealing
-- Set both.
UPDATE sealing SET hashed_by = :hashed_by, sealed_by = :sealed_by;

-- name: forget_digests
-- Messages that are compared are to get a new digest; they are linked anew when a branch first matters.
UPDATE messages SET digest = NULL WHERE octet_length(digest) > 0;

-- name: estimate_all
-- Note what messages of other programs cost, while that can be told from their rows.
UPDATE messages SET estimate = {cost} WHERE estimate IS NULL;

-- part: cost
(coalesce(length(content), 0) + coalesce(length(tool_calls), 0)) / 4
       + 85 * coalesce(CASE WHEN json_valid(files) THEN json_array_length(files) END, 0)

-- postgres: cost
(coalesce(length(content), 0) + coalesce(length(tool_calls), 0)) / 4
       + 85 * CASE WHEN files LIKE '[%]' THEN jsonb_array_length(files::jsonb) ELSE 0 END
