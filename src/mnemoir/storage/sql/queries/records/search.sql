-- sqlite alone: the files have a format of their own

-- name: rows_with
-- How many records hold each of some phrases (an object of `record_ranking`); one row, a JSON array.
SELECT mnemoir_rows_with(:phrases);

-- name: count_rows_with
-- How many records hold a phrase, at most so many as are asked for; one row.
SELECT count(*) FROM (SELECT 1 FROM memories_fts WHERE memories_fts MATCH :phrase LIMIT :most);

-- name: row_count
-- How many records have words; one row, by the smallest of the tables that FTS5 keeps.
SELECT count(*) FROM memories_fts_docsize;

-- name: best
-- Records that a full-text expression finds and their scores, best first, ties by number; `rank_by` is bm25 with the
-- weights of the columns.
SELECT rowid, rank FROM memories_fts WHERE memories_fts MATCH :expression AND rank MATCH :rank_by
 ORDER BY rank, rowid LIMIT :limit;

-- name: scored
-- Records that a full-text expression finds, in order, with scores of our own (an object of `record_ranking`).
SELECT rowid, mnemoir_score(memories_fts, :scoring) FROM memories_fts WHERE memories_fts MATCH :expression;

-- name: records
-- Some records (a JSON array of numbers), unsorted; by the primary key.
SELECT m.id, m.memory_text, m.date_added, m.metadata_json, c.key, c.made_by
  FROM json_each(:ids) AS wanted
  CROSS JOIN memories AS m ON m.id = wanted.value
  LEFT JOIN mnemoir_records AS r ON r.memory_id = m.id
  LEFT JOIN mnemoir_chunks AS c ON c.id = r.chunk_id
 WHERE c.stale_since IS NULL;

-- name: newest
-- Live records below a number, newest first; by the primary key.
SELECT m.id, m.memory_text, m.date_added, m.metadata_json, c.key, c.made_by
  FROM memories AS m
  LEFT JOIN mnemoir_records AS r ON r.memory_id = m.id
  LEFT JOIN mnemoir_chunks AS c ON c.id = r.chunk_id
 WHERE c.stale_since IS NULL AND m.id < :before
 ORDER BY m.id DESC LIMIT :limit;

-- name: without_entry
-- Live records without an index entry of a model, oldest first; by a full scan.
SELECT m.id, m.memory_text, m.date_added, m.metadata_json, c.key, c.made_by
  FROM memories AS m
  LEFT JOIN mnemoir_entries AS e ON e.memory_id = m.id
  LEFT JOIN mnemoir_records AS r ON r.memory_id = m.id
  LEFT JOIN mnemoir_chunks AS c ON c.id = r.chunk_id
 WHERE c.stale_since IS NULL AND e.model IS NOT :model
 ORDER BY m.id LIMIT :limit;

-- name: revision
-- The revision of the records. In a file that we have not written yet, numbers of records are numbers of changes.
SELECT changes, removals, epoch FROM mnemoir_state
UNION ALL
SELECT coalesce(max(id), 0), coalesce(max(id), 0) - count(*), '' FROM memories
HAVING NOT EXISTS (SELECT 1 FROM mnemoir_state)
 LIMIT 1;

-- name: rows_since
-- Live records written after a change and not after another, unsorted; by index mnemoir_records_by_change, else by the primary key.
SELECT m.id, m.memory_text, m.date_added, e.terms, e.model, e.vector, e.token_ids
  FROM mnemoir_records AS r
  CROSS JOIN memories AS m ON m.id = r.memory_id
  LEFT JOIN mnemoir_chunks AS c ON c.id = r.chunk_id
  LEFT JOIN mnemoir_entries AS e ON e.memory_id = m.id
 WHERE r.change > :changes AND r.change <= :until AND c.stale_since IS NULL
UNION ALL
SELECT id, memory_text, date_added, NULL, NULL, NULL, NULL FROM memories
 WHERE id > :changes AND id <= :until AND NOT EXISTS (SELECT 1 FROM mnemoir_state);

-- name: live
-- The numbers of live records, ascending.
SELECT m.id FROM memories AS m
  LEFT JOIN mnemoir_records AS r ON r.memory_id = m.id
  LEFT JOIN mnemoir_chunks AS c ON c.id = r.chunk_id
 WHERE c.stale_since IS NULL ORDER BY m.id;

-- name: token_codes
-- Token codes of some records (a JSON array of numbers), unsorted; by the primary key.
SELECT e.memory_id, e.token_codes
  FROM json_each(:ids) AS wanted CROSS JOIN mnemoir_entries AS e ON e.memory_id = wanted.value
 WHERE e.token_codes IS NOT NULL;

-- name: file
-- The path of the file, "" for a database in memory; one row.
SELECT file FROM pragma_database_list WHERE name = 'main';
