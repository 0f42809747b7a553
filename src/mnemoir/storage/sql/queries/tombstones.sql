-- text: line

-- name: lines
-- All tombstones, in no order; by looking at all.
SELECT line FROM tombstones;

-- name: put_line
-- Add one, unless it is there.
INSERT INTO tombstones (line) VALUES (:line) ON CONFLICT DO NOTHING;
