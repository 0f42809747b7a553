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
SELECT user, memory_id, text_hash, terms, terms_by, model, vector, token_ids, second_model, second_vector
  FROM file_index WHERE project_number = :project;

-- name: entry_hashes
-- The indexed texts of a project and their times, by the unique key.
SELECT user, memory_id, text_hash, said_at FROM file_index WHERE project_number = :project;

-- name: token_codes
-- The token codes of one memory, if they are of the text as it reads now; at most one row, by the unique key.
SELECT token_codes FROM file_index
 WHERE project_number = :project AND user = :user AND memory_id = :memory_id AND text_hash = :text_hash
   AND token_codes IS NOT NULL;

-- name: put_entry
-- Write or replace the entry of a memory. Its second vector stays.
INSERT INTO file_index
    (project_number, user, memory_id, text_hash, terms, terms_by, model, vector, token_ids, token_codes, second_model,
     said_at)
VALUES
    (:project, :user, :memory_id, :text_hash, :terms, :terms_by, :model, :vector, :token_ids, :token_codes,
     :second_model, :said_at)
ON CONFLICT (project_number, user, memory_id) DO UPDATE SET said_at = excluded.said_at,
    text_hash = excluded.text_hash, terms = excluded.terms, terms_by = excluded.terms_by, model = excluded.model,
    vector = excluded.vector, token_ids = excluded.token_ids, token_codes = excluded.token_codes,
    second_model = coalesce(second_model, excluded.second_model);

-- name: empty_second_vector
-- Have the second vector of a memory made anew, if it is of another text; by the unique key.
UPDATE file_index SET second_model = '', second_vector = NULL
 WHERE project_number = :project AND user = :user AND memory_id = :memory_id AND text_hash <> :text_hash
   AND second_vector IS NOT NULL;

-- name: set_time
-- Write the time of a memory; by the unique key.
UPDATE file_index SET said_at = :said_at WHERE project_number = :project AND user = :user AND memory_id = :memory_id;

-- name: want_second_vectors
-- Give every entry of a project's multilingual users an empty second vector; by the unique key.
UPDATE file_index SET second_model = ''
 WHERE project_number = :number AND second_model IS NULL
   AND user IN (SELECT user FROM scopes WHERE tenant = :tenant AND project = :project AND is_multilingual = 1);

-- name: put_second_vector
-- Write the second vector of a memory, if its text reads as it did; by the unique key.
UPDATE file_index SET second_model = :model, second_vector = :vector
 WHERE project_number = :project AND user = :user AND memory_id = :memory_id AND text_hash = :text_hash;

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

-- name: added
-- How many entries are of memories added on each day since a time, in order of day; from index file_index_by_age.
SELECT date(said_at, 'unixepoch'), count(*) FROM file_index WHERE said_at >= :since GROUP BY 1 ORDER BY 1;

-- name: backlog
-- How many entries have no vector of the model, and how many there are; from index file_index_by_model alone.
SELECT count(*) FILTER (WHERE model IS NOT :model), count(*) FROM file_index INDEXED BY file_index_by_model;

-- name: without_second_vector
-- Memories whose second vector is to be made, oldest entry first, passing over some projects (a JSON array of
-- numbers); read from index file_index_by_second_model alone.
SELECT p.tenant, p.project, i.user, i.memory_id
  FROM file_index AS i INDEXED BY file_index_by_second_model JOIN file_projects AS p ON p.number = i.project_number
 WHERE i.second_model <> :model AND i.project_number NOT IN (SELECT value FROM json_each(:passed_over))
 ORDER BY i.number LIMIT :limit;

-- name: second_backlog
-- How many second vectors are to be made, and how many there are to be; from index file_index_by_second_model alone.
SELECT count(*) FILTER (WHERE second_model <> :model), count(*)
  FROM file_index INDEXED BY file_index_by_second_model WHERE second_model IS NOT NULL;
