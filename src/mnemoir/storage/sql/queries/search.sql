-- text: after, agent, app, conversation, id, model, project, space, tenant, user
-- integer: change, changes, first, last, limit, seq, until
-- integers: seqs

-- name: revision
-- The number of a user's scope and the revision of its rows; at most one row, by the unique key of scopes.
SELECT id, changes, removals FROM scopes
 WHERE tenant = :tenant AND project = :project AND user = :user AND kind = 'memories';

-- part: row
-- The columns of a search row.
m.seq, m.kind, m.speaker, m.agent, m.app, m.conversation, m.effective_at, m.said_at, m.expires_at,
       e.terms, e.model, e.vector, e.token_ids, e.names

-- name: rows_since
-- Current rows written after a change and not after another, unsorted (the caller sorts: the blobs would go through the sorter here); by
-- index memories_by_change.
SELECT {row}
  FROM memories AS m {by memories_by_change}
  {then join} entries AS e ON e.scope_id = m.scope_id AND e.seq = m.seq
 WHERE m.scope_id = :scope_id AND m.valid_to IS NULL AND m.change > :changes AND m.change <= :until;

-- name: rows_since_of_all_times
-- The same with closed rows, and from when to when each row was valid; by indexes memories_by_change and
-- closed_memories_by_change.
SELECT {row}, m.valid_from, m.valid_until
  FROM (SELECT seq FROM memories {by memories_by_change}
         WHERE scope_id = :scope_id AND valid_to IS NULL AND change > :changes AND change <= :until
        UNION ALL
        SELECT seq FROM memories {by closed_memories_by_change}
         WHERE scope_id = :scope_id AND valid_to IS NOT NULL AND change > :changes AND change <= :until) AS written
  {then join} memories AS m ON m.scope_id = :scope_id AND m.seq = written.seq
  {then join} entries AS e ON e.scope_id = m.scope_id AND e.seq = m.seq;

-- name: rows_after
-- Current rows with a greater number that were written after a change, in order of their number; by the primary keys.
SELECT {row}
  FROM memories AS m
  {then join} entries AS e ON e.scope_id = m.scope_id AND e.seq = m.seq
 WHERE m.scope_id = :scope_id AND m.valid_to IS NULL AND m.seq > :seq AND m.change > :changes
 ORDER BY m.seq LIMIT :limit;

-- name: rows_after_of_all_times
-- The same with closed rows, and from when to when each row was valid; by the primary keys.
SELECT {row}, m.valid_from, m.valid_until
  FROM memories AS m
  {then join} entries AS e ON e.scope_id = m.scope_id AND e.seq = m.seq
 WHERE m.scope_id = :scope_id AND m.seq > :seq AND m.change > :changes
 ORDER BY m.seq LIMIT :limit;

-- name: has_vectors
-- Whether any memory of a scope needs a vector in a further space; by the unique key.
SELECT 1 FROM vectors WHERE scope_id = :scope_id LIMIT 1;

-- name: vectors
-- The vectors in further spaces of a scope's rows from one number to another, in order of row, space and part; by the
-- unique key.
SELECT seq, space, model, vector, seq || ' ' || space || ' ' || part AS place FROM vectors
 WHERE scope_id = :scope_id AND seq BETWEEN :first AND :last ORDER BY seq, space, part;

-- name: vectors_of_rows
-- The same of some rows (a JSON array of numbers), those of one row and space together, in order of their parts; by the
-- unique key.
SELECT v.seq, v.space, v.model, v.vector, v.seq || ' ' || v.space || ' ' || v.part AS place
  FROM {list seqs} AS wanted
  {then join} vectors AS v ON v.scope_id = :scope_id AND v.seq = wanted.value;

-- name: live
-- The numbers of a scope's current rows, unsorted; from index memories_by_change alone.
SELECT seq FROM memories {by memories_by_change} WHERE scope_id = :scope_id AND valid_to IS NULL;

-- name: live_of_all_times
-- The numbers of all rows of a scope, unsorted; from the primary key alone.
SELECT seq FROM memories WHERE scope_id = :scope_id;

-- name: token_codes
-- Token codes of some rows (a JSON array of numbers) of a scope, unsorted; by the primary keys.
SELECT c.seq, c.codes
  FROM {list seqs} AS wanted
  {then join} codes AS c ON c.scope_id = :scope_id AND c.seq = wanted.value;

-- name: memories
-- Some current memories (a JSON array of numbers) of a scope, unsorted; by the primary key.
SELECT m.seq, m.id, m.text, m.created_at, m.updated_at, m.metadata, m.kind, m.agent, m.app, m.conversation, m.role,
       m.speaker, m.expires_on, m.valid_to, m.replaced_by, m.extra, m.origin
  FROM {list seqs} AS wanted
  {then join} memories AS m ON m.scope_id = :scope_id AND m.seq = wanted.value
 WHERE m.valid_to IS NULL;

-- name: memories_of_all_times
-- The same with closed memories; by the primary key.
SELECT m.seq, m.id, m.text, m.created_at, m.updated_at, m.metadata, m.kind, m.agent, m.app, m.conversation, m.role,
       m.speaker, m.expires_on, m.valid_to, m.replaced_by, m.extra, m.origin
  FROM {list seqs} AS wanted
  {then join} memories AS m ON m.scope_id = :scope_id AND m.seq = wanted.value;

-- name: next_model
-- The model that follows another in name order, among all vectors; at most one row, by index entries_by_model.
SELECT model FROM entries WHERE model > :after ORDER BY model LIMIT 1;

-- name: embedded_with
-- Rows with a vector of one model (NULL: without any vector), by scope, the oldest first; by index entries_by_model.
SELECT scope_id, seq FROM entries WHERE model IS NOT DISTINCT FROM :model ORDER BY scope_id, seq LIMIT :limit;

-- name: next_model_in_space
-- The model that follows another in name order, among all vectors of a further space; by index vectors_by_model.
SELECT model FROM vectors WHERE space = :space AND model > :after ORDER BY model LIMIT 1;

-- name: embedded_in_space
-- Rows with a vector of one model (NULL: with one to be made) in a further space, by scope, the oldest first; by index
-- vectors_by_model.
SELECT scope_id, seq FROM vectors WHERE space = :space AND model IS NOT DISTINCT FROM :model
 ORDER BY scope_id, seq LIMIT :limit;

-- name: next_terms
-- The rules that follow others in name order, among those that stored terms were made by; by index entries_by_terms.
SELECT terms_by FROM entries WHERE terms_by > :after ORDER BY terms_by LIMIT 1;

-- name: with_terms_by
-- Rows whose terms were made by some rules (NULL: by none), by scope, the oldest first; by index entries_by_terms.
SELECT scope_id, seq FROM entries WHERE terms_by IS NOT DISTINCT FROM :model ORDER BY scope_id, seq LIMIT :limit;

-- name: terms_backlog
-- How many rows have terms by these rules, and how many rows there are; from index entries_by_terms alone.
SELECT (SELECT count(*) FROM entries WHERE terms_by = :model), (SELECT count(*) FROM entries);

-- name: to_embed
-- The text to embed of one row, and its user; at most one row, by the primary keys.
SELECT s.tenant, s.project, s.user, m.agent, m.app, m.conversation, m.id, m.text, m.kind, m.said_at
  FROM memories AS m JOIN scopes AS s ON s.id = m.scope_id
 WHERE m.scope_id = :scope_id AND m.seq = :seq;

-- name: said_before
-- The messages of a conversation before a row, newest first; by index messages_of_conversation.
SELECT text, said_at, seq FROM memories
 WHERE scope_id = :scope_id AND conversation IS NOT DISTINCT FROM :conversation
   AND kind = 'message' AND valid_to IS NULL
   AND agent IS NOT DISTINCT FROM :agent AND app IS NOT DISTINCT FROM :app AND seq < :seq
 ORDER BY seq DESC LIMIT :limit;

-- name: text_of
-- The row of a memory, and what it reads; at most one row, by the unique key.
SELECT seq, scope_id, text FROM memories
 WHERE id = :id
   AND scope_id = (SELECT id FROM scopes
                    WHERE tenant = :tenant AND project = :project AND user = :user AND kind = 'memories');

-- name: mark_changed
-- Bump the scope's revision for a rewritten row.
UPDATE memories SET change = :change WHERE scope_id = :scope_id AND seq = :seq;

-- name: backlog
-- How many rows have a vector of the model, and how many rows there are; from index entries_by_model alone.
SELECT (SELECT count(*) FROM entries WHERE model = :model), (SELECT count(*) FROM entries);

-- name: space_backlog
-- How many rows have a vector of the model in a further space, and how many need one; from index vectors_by_model alone.
SELECT (SELECT count(*) FROM vectors WHERE space = :space AND model = :model),
       (SELECT count(*) FROM vectors WHERE space = :space);
