-- sqlite alone: the files have a format of their own

-- name: blocks
-- Chunks of ours and hashes that only other programs logged, in the order of the conversation. A tracker whose hash is
-- not logged has the number that it gets when it is imported.
SELECT key, hash, digests, stale_since IS NOT NULL, forgotten_at IS NOT NULL, position FROM mnemoir_chunks
UNION ALL
SELECT 'log:' || id, message_hash, '[]', 0, 0, id FROM vector_memory_hash_log
 WHERE id NOT IN (SELECT log_id FROM mnemoir_chunks WHERE log_id IS NOT NULL)
UNION ALL
SELECT 'log:' || number, last_checked_message_hash, '[]', 0, 0, number
  FROM (SELECT last_checked_message_hash,
               max(coalesce((SELECT max(id) FROM vector_memory_hash_log), 0),
                   coalesce((SELECT max(log_id) FROM mnemoir_chunks), 0),
                   coalesce((SELECT CAST(max(position) AS INTEGER) FROM mnemoir_chunks), 0))
                   + row_number() OVER (ORDER BY rowid) AS number
          FROM vector_memory_tracker
         WHERE last_checked_message_hash NOT IN (SELECT message_hash FROM vector_memory_hash_log))
 ORDER BY 6;

-- name: sources
-- The messages of our chunks, in the order of the conversation.
SELECT key, source FROM mnemoir_chunks ORDER BY position;

-- name: position_of
-- The position of a block: a chunk by its key, else a row of the log by its id.
SELECT position FROM mnemoir_chunks WHERE key = :key
UNION ALL
SELECT id FROM vector_memory_hash_log
 WHERE 'log:' || id = :key AND id NOT IN (SELECT log_id FROM mnemoir_chunks WHERE log_id IS NOT NULL);

-- name: position_before
-- The last position in front of another; one row.
SELECT max(coalesce((SELECT max(position) FROM mnemoir_chunks WHERE position < :position), 0.0),
           coalesce((SELECT max(id) FROM vector_memory_hash_log WHERE id < :position), 0));

-- name: last_position
-- The greatest position that anything has or had; one row.
SELECT max(coalesce((SELECT max(position) FROM mnemoir_chunks), 0.0),
           coalesce((SELECT max(log_id) FROM mnemoir_chunks), 0),
           coalesce((SELECT max(id) FROM vector_memory_hash_log), 0));

-- name: positions_between
-- The chunks strictly between two positions, in order.
SELECT id FROM mnemoir_chunks WHERE position > :low AND position < :high ORDER BY position;

-- name: fixed_around
-- The foreign rows of the log that enclose a position; one row, 0 where there is none in front.
SELECT (SELECT coalesce(max(id), 0) FROM vector_memory_hash_log AS l
         WHERE id < :position AND NOT EXISTS (SELECT 1 FROM mnemoir_chunks WHERE log_id = l.id)),
       (SELECT min(id) FROM vector_memory_hash_log AS l
         WHERE id >= :position AND NOT EXISTS (SELECT 1 FROM mnemoir_chunks WHERE log_id = l.id));

-- name: move_chunk
-- Set the position of a chunk.
UPDATE mnemoir_chunks SET position = :position WHERE id = :id;

-- name: add_chunk
-- Insert a chunk; returns its number.
INSERT INTO mnemoir_chunks (key, position, hash, digests, source, created_at, made_by)
VALUES (:key, :position, :hash, :digests, :source, :created_at, :made_by) RETURNING id;

-- name: adopt
-- Make a chunk of a row that another program logged; nothing where it is one already, or there is no such row.
INSERT OR IGNORE INTO mnemoir_chunks (key, position, log_id, hash, digests, source, created_at)
SELECT 'log:' || id, id, id, message_hash, '[]', '[]', timestamp FROM vector_memory_hash_log
 WHERE 'log:' || id = :key AND id NOT IN (SELECT log_id FROM mnemoir_chunks WHERE log_id IS NOT NULL);

-- name: place
-- Set the digests of a chunk.
UPDATE mnemoir_chunks SET digests = :digests WHERE key = :key;

-- name: make_stale
-- Mark a chunk as stale that is not yet; returns its number and its number in the log.
UPDATE mnemoir_chunks SET stale_since = :now WHERE key = :key AND stale_since IS NULL RETURNING id, log_id;

-- name: revive
-- Remove the mark of a stale chunk; returns its number.
UPDATE mnemoir_chunks SET stale_since = NULL WHERE key = :key AND stale_since IS NOT NULL RETURNING id;

-- name: forget
-- Delete the messages of a chunk that is not forgotten yet; returns its number.
UPDATE mnemoir_chunks SET source = '[]', made_by = '', forgotten_at = :now
 WHERE key = :key AND forgotten_at IS NULL RETURNING id;

-- name: of_chunk
-- The records of a chunk: number and metadata, oldest first; by index mnemoir_records_by_chunk.
SELECT m.id, m.metadata_json, m.memory_text
  FROM mnemoir_records AS r CROSS JOIN memories AS m ON m.id = r.memory_id
 WHERE r.chunk_id = :chunk ORDER BY m.id;

-- name: add_record
-- Insert a record; returns its number.
INSERT INTO memories (discussion_id, memory_text, date_added, metadata_json)
VALUES (:discussion, :text, :now, :metadata) RETURNING id;

-- name: link_record
-- Set the chunk of a record; the trigger has inserted its row.
UPDATE mnemoir_records SET chunk_id = :chunk WHERE memory_id = :id;

-- name: add_words
-- Insert the words of a record into the full text.
INSERT INTO memories_fts (rowid, title, summary, entities, key_phrases, memory_text_unweighted)
VALUES (:id, :title, :summary, :entities, :key_phrases, :summary);

-- name: drop_words
-- Delete the words of a record from the full text: no program finds it any more.
DELETE FROM memories_fts WHERE rowid = :id;

-- name: drop_record
-- Delete a record; the trigger deletes our rows of it.
DELETE FROM memories WHERE id = :id;

-- name: drop_embeddings
-- Delete the embeddings that another program made of a record.
DELETE FROM memory_embeddings WHERE memory_id = :id;

-- name: merge_words
-- Rewrite the full text without the words of deleted records, which it keeps until then.
INSERT INTO memories_fts(memories_fts) VALUES ('optimize');

-- name: mark_changed
-- Bump the revision of a record so that search indexes reload it.
UPDATE mnemoir_records SET change = (SELECT changes FROM mnemoir_state) WHERE memory_id = :id;

-- name: count_change
-- Increment the count of changes.
UPDATE mnemoir_state SET changes = changes + 1;

-- name: count_removals
-- Add to the count of removed records.
UPDATE mnemoir_state SET removals = removals + :count;

-- name: put_entry
-- Insert or replace the index entry of a record, if the record exists.
INSERT OR REPLACE INTO mnemoir_entries (memory_id, model, terms, vector, token_ids, token_codes)
SELECT id, :model, :terms, :vector, :token_ids, :token_codes FROM memories WHERE id = :id;

-- name: newest_live
-- The last chunk of the conversation that is not stale, and its row in the log (NULL for none).
SELECT id, log_id, hash, position FROM mnemoir_chunks WHERE stale_since IS NULL ORDER BY position DESC LIMIT 1;

-- name: newest_logged
-- The number of the last row of the log.
SELECT id FROM vector_memory_hash_log ORDER BY id DESC LIMIT 1;

-- name: newest_foreign
-- The last row of the log that is of no chunk of ours.
SELECT l.id, l.message_hash FROM vector_memory_hash_log AS l
 WHERE NOT EXISTS (SELECT 1 FROM mnemoir_chunks WHERE log_id = l.id) ORDER BY l.id DESC LIMIT 1;

-- name: log_hash
-- Add to the hash log; gives the number of the row.
INSERT INTO vector_memory_hash_log (discussion_id, message_hash, timestamp)
VALUES (:discussion, :hash, :now) RETURNING id;

-- name: unlog
-- Take a row out of the hash log.
DELETE FROM vector_memory_hash_log WHERE id = :id;

-- name: set_log_id
-- Set the row of the log that belongs to the chunk.
UPDATE mnemoir_chunks SET log_id = :log_id WHERE id = :id;

-- name: forget_tracker
-- Record that nothing of the conversation is processed.
DELETE FROM vector_memory_tracker;

-- name: set_tracker
-- Record how far the conversation is processed.
INSERT INTO vector_memory_tracker (discussion_id, last_checked_message_hash, last_updated)
VALUES (:discussion, :hash, :now)
    ON CONFLICT (discussion_id) DO UPDATE SET last_checked_message_hash = :hash, last_updated = :now
 WHERE last_checked_message_hash <> :hash;
