-- name: forget_digests
-- Messages that are compared are to get a new digest; they are linked anew when a branch first matters.
UPDATE messages SET digest = NULL WHERE scope_id = :scope_id AND octet_length(digest) > 0;

-- name: estimate_all
-- Note what messages of other programs cost, while that can be told from their rows.
UPDATE messages SET estimate = {cost} WHERE scope_id = :scope_id AND estimate IS NULL;
