-- sqlite alone: the files have a format of their own

-- name: tables
-- What WilmerAI knows, column for column, and what is ours, whose names begin with mnemoir_.
CREATE TABLE IF NOT EXISTS memories (
    id INTEGER PRIMARY KEY,
    discussion_id TEXT NOT NULL,
    memory_text TEXT NOT NULL,
    date_added TEXT NOT NULL,
    metadata_json TEXT
);
CREATE VIRTUAL TABLE IF NOT EXISTS memories_fts USING fts5(
    title, summary, entities, key_phrases, memory_text_unweighted, tokenize = 'porter'
);
CREATE TABLE IF NOT EXISTS vector_memory_tracker (
    discussion_id TEXT PRIMARY KEY,
    last_checked_message_hash TEXT NOT NULL,
    last_updated TIMESTAMP NOT NULL
);
CREATE TABLE IF NOT EXISTS vector_memory_hash_log (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    discussion_id TEXT NOT NULL,
    message_hash TEXT NOT NULL,
    timestamp DATETIME NOT NULL
);
CREATE TABLE IF NOT EXISTS memory_embeddings (
    memory_id INTEGER,
    model TEXT,
    dim INTEGER,
    vector BLOB,
    PRIMARY KEY (memory_id, model)
);
-- One row: `changes` and `removals` count what search has to hear of.
CREATE TABLE IF NOT EXISTS mnemoir_state (
    schema INTEGER NOT NULL,
    epoch TEXT NOT NULL,
    changes INTEGER NOT NULL,
    removals INTEGER NOT NULL
);
-- `position` orders chunks among each other and among the rows of the hash log, whose position is their id; `log_id` is
-- the row that the chunk has or once had there.
CREATE TABLE IF NOT EXISTS mnemoir_chunks (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    position REAL NOT NULL,
    log_id INTEGER UNIQUE,
    hash TEXT NOT NULL,
    digests TEXT NOT NULL,
    source TEXT NOT NULL,
    created_at TEXT NOT NULL,
    stale_since TEXT,
    made_by TEXT NOT NULL DEFAULT '',
    forgotten_at TEXT
);
CREATE INDEX IF NOT EXISTS mnemoir_chunks_by_position ON mnemoir_chunks (position);
CREATE TABLE IF NOT EXISTS mnemoir_records (
    memory_id INTEGER PRIMARY KEY,
    change INTEGER NOT NULL,
    chunk_id INTEGER
);
CREATE INDEX IF NOT EXISTS mnemoir_records_by_change ON mnemoir_records (change);
CREATE INDEX IF NOT EXISTS mnemoir_records_by_chunk ON mnemoir_records (chunk_id) WHERE chunk_id IS NOT NULL;
CREATE TABLE IF NOT EXISTS mnemoir_entries (
    memory_id INTEGER PRIMARY KEY,
    model TEXT,
    terms BLOB NOT NULL,
    vector BLOB,
    token_ids BLOB,
    token_codes BLOB
);

-- name: first_state
-- Begin to count, once. The records that other programs wrote before that are all changes.
INSERT INTO mnemoir_state (schema, epoch, changes, removals)
SELECT 1, :epoch, coalesce(max(id), 0), 0 FROM memories HAVING NOT EXISTS (SELECT 1 FROM mnemoir_state);
INSERT INTO mnemoir_records (memory_id, change)
SELECT id, id FROM memories WHERE NOT EXISTS (SELECT 1 FROM mnemoir_records LIMIT 1);

-- name: triggers
-- What any program does to the records is counted, also by one that knows nothing of us.
CREATE TRIGGER IF NOT EXISTS mnemoir_inserted AFTER INSERT ON memories BEGIN
    UPDATE mnemoir_state SET changes = changes + 1;
    INSERT OR REPLACE INTO mnemoir_records (memory_id, change) SELECT new.id, changes FROM mnemoir_state;
END;
CREATE TRIGGER IF NOT EXISTS mnemoir_updated AFTER UPDATE OF memory_text, metadata_json ON memories BEGIN
    UPDATE mnemoir_state SET changes = changes + 1;
    UPDATE mnemoir_records SET change = (SELECT changes FROM mnemoir_state) WHERE memory_id = new.id;
    DELETE FROM mnemoir_entries WHERE memory_id = new.id;
END;
CREATE TRIGGER IF NOT EXISTS mnemoir_deleted AFTER DELETE ON memories BEGIN
    UPDATE mnemoir_state SET removals = removals + 1;
    DELETE FROM mnemoir_records WHERE memory_id = old.id;
    DELETE FROM mnemoir_entries WHERE memory_id = old.id;
END;

-- name: tables_of
-- The tables of a file of records and how each was made.
SELECT name, sql FROM main.sqlite_schema WHERE type IN ('table', 'view');

-- name: has_ours
-- One row when the file has our tables.
SELECT 1 FROM main.sqlite_schema WHERE name = 'mnemoir_state';

-- name: look
-- Nothing of use; a statement over the file itself notices that its schema has changed.
SELECT 1 FROM main.sqlite_schema LIMIT 1;

-- name: columns_of
-- The columns of one table of the file.
SELECT name FROM pragma_table_info(:table, 'main');

-- name: import_tracker
-- Copy the tracker's hashes into the hash log, where they are missing.
INSERT INTO vector_memory_hash_log (id, discussion_id, message_hash, timestamp)
SELECT max(coalesce((SELECT max(id) FROM vector_memory_hash_log), 0),
           coalesce((SELECT max(log_id) FROM mnemoir_chunks), 0),
           coalesce((SELECT CAST(max(position) AS INTEGER) FROM mnemoir_chunks), 0)) + row_number() OVER (ORDER BY rowid),
       discussion_id, last_checked_message_hash, last_updated
  FROM vector_memory_tracker
 WHERE last_checked_message_hash NOT IN (SELECT message_hash FROM vector_memory_hash_log);

-- name: rename_memories
-- Set the discussion of all records.
UPDATE memories SET discussion_id = :discussion;

-- name: rename_log
-- Set the discussion of the hash log.
UPDATE vector_memory_hash_log SET discussion_id = :discussion;

-- name: rename_tracker
-- Set the discussion of the tracker. One that was renamed before and continued has two rows: the later one counts.
UPDATE OR REPLACE vector_memory_tracker SET discussion_id = :discussion;

-- name: schema_of
-- The schema of our tables in the file; at most one row.
SELECT schema FROM main.mnemoir_state;

-- name: attach
-- Where tables are looked for that the file does not have.
ATTACH ':memory:' AS stand_in;
