-- name: project
-- The number and the synced stamp of a project; at most one row, by the unique key.
SELECT number, stamp FROM file_projects WHERE tenant = :tenant AND project = :project;

-- name: all_projects
-- Every project ever indexed with its synced stamp, in order of entry.
SELECT tenant, project, stamp FROM file_projects ORDER BY number;

-- name: add_project
-- Insert a project unless it exists.
INSERT INTO file_projects (tenant, project) VALUES (:tenant, :project) ON CONFLICT DO NOTHING;

-- name: set_stamp
-- Set the stamp of the file that the index matches now.
UPDATE file_projects SET stamp = :stamp WHERE number = :project;

-- name: move_stamp
-- The same, if the index was in step with the file before; if not, the next sync still has work.
UPDATE file_projects SET stamp = :stamp WHERE number = :project AND stamp IS :before;

-- name: entries
-- All entries of a project without token codes, by the unique key.
SELECT user, memory_id, text_hash, terms, model, vector, token_ids FROM file_index WHERE project_number = :project;

-- name: entry_hashes
-- The indexed texts of a project, by the unique key.
SELECT user, memory_id, text_hash FROM file_index WHERE project_number = :project;

-- name: token_codes
-- The token codes of one memory, if they are of the text as it reads now; at most one row, by the unique key.
SELECT token_codes FROM file_index
 WHERE project_number = :project AND user = :user AND memory_id = :memory_id AND text_hash = :text_hash
   AND token_codes IS NOT NULL;

-- name: put_entry
-- Write or replace the entry of a memory.
INSERT INTO file_index (project_number, user, memory_id, text_hash, terms, model, vector, token_ids, token_codes)
VALUES (:project, :user, :memory_id, :text_hash, :terms, :model, :vector, :token_ids, :token_codes)
ON CONFLICT (project_number, user, memory_id) DO UPDATE SET
    text_hash = excluded.text_hash, terms = excluded.terms, model = excluded.model, vector = excluded.vector,
    token_ids = excluded.token_ids, token_codes = excluded.token_codes;

-- name: drop_entry
-- Delete the entry of a memory that no longer exists.
DELETE FROM file_index WHERE project_number = :project AND user = :user AND memory_id = :memory_id;

-- name: without_vector
-- Memories without a vector of the model, oldest entry first, passing over some projects (a JSON array of numbers);
-- read from index file_index_by_model alone.
SELECT p.tenant, p.project, i.user, i.memory_id
  FROM file_index AS i INDEXED BY file_index_by_model JOIN file_projects AS p ON p.number = i.project_number
 WHERE i.model IS NOT :model AND i.project_number NOT IN (SELECT value FROM json_each(:passed_over))
 ORDER BY i.number LIMIT :limit;

-- name: counts
-- How many projects and users have entries, and how many entries there are; from the unique key.
SELECT count(DISTINCT project_number), count(*), coalesce(sum(entries), 0)
  FROM (SELECT project_number, user, count(*) AS entries FROM file_index GROUP BY project_number, user);

-- name: backlog
-- How many entries have no vector of the model, and how many there are; from index file_index_by_model alone.
SELECT count(*) FILTER (WHERE model IS NOT :model), count(*) FROM file_index INDEXED BY file_index_by_model;
