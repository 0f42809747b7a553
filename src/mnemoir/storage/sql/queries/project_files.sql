-- text: before, memory_id, model, project, space, stamp, tenant, terms_by, user
-- integer: limit, number
-- real: said_at, since
-- bytes: names, terms, text_hash, token_codes, token_ids, vector
-- integers: passed_over

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
UPDATE file_projects SET stamp = :stamp WHERE number = :number;

-- name: move_stamp
-- The same, if the index was in step with the file before; if not, the next sync still has work.
UPDATE file_projects SET stamp = :stamp WHERE number = :number AND stamp IS NOT DISTINCT FROM :before;

-- name: entries
-- All entries of a project without token codes, by the unique key.
SELECT user, memory_id, text_hash, terms, terms_by, names, model, vector, token_ids
  FROM file_index WHERE project_number = :number;

-- name: vectors
-- The vectors of a project's entries in further spaces, those of one space together, in order of their parts; by the
-- unique keys.
SELECT i.user, i.memory_id, v.space, v.model, v.vector
  FROM file_index AS i {then join} file_vectors AS v ON v.entry = i.number
 WHERE i.project_number = :number;

-- name: entry_hashes
-- The indexed texts of a project and their times, by the unique key.
SELECT user, memory_id, text_hash, said_at FROM file_index WHERE project_number = :number;

-- name: token_codes
-- The token codes of one memory, if they are of the text as it reads now; at most one row, by the unique key.
SELECT token_codes FROM file_index
 WHERE project_number = :number AND user = :user AND memory_id = :memory_id AND text_hash = :text_hash
   AND token_codes IS NOT NULL;

-- name: put_entry
-- Write or replace the entry of a memory.
INSERT INTO file_index
    (project_number, user, memory_id, text_hash, terms, terms_by, names, model, vector, token_ids, token_codes,
     said_at)
VALUES
    (:number, :user, :memory_id, :text_hash, :terms, :terms_by, :names, :model, :vector, :token_ids, :token_codes,
     :said_at)
ON CONFLICT (project_number, user, memory_id) DO UPDATE SET said_at = excluded.said_at,
    text_hash = excluded.text_hash, terms = excluded.terms, terms_by = excluded.terms_by, names = excluded.names,
    model = excluded.model, vector = excluded.vector, token_ids = excluded.token_ids, token_codes = excluded.token_codes;

-- name: empty_vectors
-- Have the vectors of a memory in further spaces made anew, if they are of another text; by the unique keys.
UPDATE file_vectors SET model = NULL, vector = NULL
 WHERE model IS NOT NULL AND entry = (
    SELECT number FROM file_index
     WHERE project_number = :number AND user = :user AND memory_id = :memory_id AND text_hash <> :text_hash
 );

-- name: want_vector
-- Have a vector of a memory made in a further space, if it has none there; by the unique key.
INSERT INTO file_vectors (entry, space)
SELECT number, :space FROM file_index WHERE project_number = :number AND user = :user AND memory_id = :memory_id
ON CONFLICT DO NOTHING;

-- name: set_time
-- Write the time of a memory; by the unique key.
UPDATE file_index SET said_at = :said_at WHERE project_number = :number AND user = :user AND memory_id = :memory_id;

-- name: want_vectors
-- Have a vector of every entry of a project's users made in each space that they are marked for; by the unique keys.
INSERT INTO file_vectors (entry, space)
SELECT i.number, marked.value
  FROM scopes AS s
  CROSS JOIN json_each(s.spaces) AS marked
  CROSS JOIN file_index AS i ON i.project_number = :number AND i.user = s.user
 WHERE s.tenant = :tenant AND s.project = :project
ON CONFLICT DO NOTHING;

-- postgres: want_vectors
INSERT INTO file_vectors (entry, space)
SELECT i.number, marked.value
  FROM scopes AS s
  CROSS JOIN LATERAL jsonb_array_elements_text(s.spaces::jsonb) AS marked (value)
  JOIN file_index AS i ON i.project_number = :number AND i.user = s.user
 WHERE s.tenant = :tenant AND s.project = :project
ON CONFLICT DO NOTHING;

-- name: put_vector
-- Write the vector of a memory in a further space, if its text reads as it did; by the unique keys.
UPDATE file_vectors SET model = :model, vector = :vector
 WHERE space = :space AND part = 0 AND entry = (
    SELECT number FROM file_index
     WHERE project_number = :number AND user = :user AND memory_id = :memory_id AND text_hash = :text_hash
 );

-- name: drop_entry
-- Delete the entry of a memory that no longer exists.
DELETE FROM file_index WHERE project_number = :number AND user = :user AND memory_id = :memory_id;

-- name: without_vector
-- Memories without a vector of the model, oldest entry first, passing over some projects (a JSON array of numbers);
-- read from index file_index_by_model alone.
SELECT p.tenant, p.project, i.user, i.memory_id
  FROM file_index AS i {by file_index_by_model} JOIN file_projects AS p ON p.number = i.project_number
 WHERE i.model IS DISTINCT FROM :model AND i.project_number {not in passed_over}
 ORDER BY i.number LIMIT :limit;

-- name: oldest_with_vector
-- The oldest entry with a vector of the model; at most one row, from index file_index_by_model.
SELECT p.tenant, p.project, i.user, i.memory_id
  FROM file_index AS i JOIN file_projects AS p ON p.number = i.project_number
 WHERE i.model = :model ORDER BY i.number LIMIT 1;

-- name: counts
-- How many projects and users have entries, and how many entries there are; from the unique key.
SELECT count(DISTINCT project_number), count(*), coalesce(sum(entries), 0)
  FROM (SELECT project_number, user, count(*) AS entries FROM file_index GROUP BY project_number, user) AS of_users;

-- name: added
-- How many entries are of memories added on each day since a time, in order of day, which is counted from 1970;
-- from index file_index_by_age.
SELECT CAST(floor(said_at / 86400) AS integer), count(*) FROM file_index WHERE said_at >= :since GROUP BY 1 ORDER BY 1;

-- name: backlog
-- How many entries have no vector of the model, and how many there are; from index file_index_by_model alone.
SELECT count(*) FILTER (WHERE model IS DISTINCT FROM :model), count(*) FROM file_index {by file_index_by_model};

-- name: without_vector_in_space
-- Memories whose vector in a further space is to be made, oldest entry first, passing over some projects (a JSON array
-- of numbers); by index file_vectors_by_model.
SELECT p.tenant, p.project, i.user, i.memory_id
  FROM file_vectors AS v
  JOIN file_index AS i ON i.number = v.entry
  JOIN file_projects AS p ON p.number = i.project_number
 WHERE v.space = :space AND v.model IS DISTINCT FROM :model
   AND i.project_number {not in passed_over}
 ORDER BY v.entry LIMIT :limit;

-- name: space_backlog
-- How many vectors in a further space are to be made, and how many there are to be; from index file_vectors_by_model
-- alone.
SELECT count(*) FILTER (WHERE model IS DISTINCT FROM :model), count(*) FROM file_vectors WHERE space = :space;
