-- text: agent, app, applied, at, change_id, conversation, copy_id, created_at, event, expires_on, extra, id, key
-- text: kind, last_message, memory_id, metadata, model, new_text, now_text, old_text, origin, proposed
-- text: reason, replaced_by, request_hash, role, session, space, speaker, state, successor, terms_by, text, turns
-- text: undo_of, updated_at, valid_to
-- integer: change, changes, count, next_seq, number, of_seq, part, removals, seq, source_id
-- real: before, begin, effective_at, expires_at, given_at, now, said_at, since, until, valid_from, valid_until
-- bytes: codes, content_hash, left_hash, names, terms, token_ids, vector

-- name: counters
-- A scope's revision, its last number and the spaces of its facts' vectors; one row, by the primary key.
SELECT changes, removals, next_seq, spaces FROM scopes WHERE id = :scope_id;

-- name: set_counters
-- Advance a scope's revision and its numbers.
UPDATE scopes SET changes = :changes, removals = :removals, next_seq = :next_seq WHERE id = :scope_id;

-- name: add_memory
-- Store a memory.
INSERT INTO memories
    (scope_id, seq, id, kind, change, agent, app, conversation, role, speaker, said_at, effective_at, expires_at,
     valid_from, valid_until, content_hash, created_at, updated_at, expires_on, valid_to, replaced_by, text, metadata,
     extra, origin)
VALUES
    (:scope_id, :seq, :id, :kind, :change, :agent, :app, :conversation, :role, :speaker, :said_at, :effective_at,
     :expires_at, :valid_from, :valid_until, :content_hash, :created_at, :updated_at, :expires_on, :valid_to,
     :replaced_by, :text, :metadata, :extra, :origin);

-- name: put_entry
-- Write or replace the words, the names and the vector of a memory, or that it has none yet.
INSERT INTO entries (scope_id, seq, terms, terms_by, names, model, vector, token_ids)
VALUES (:scope_id, :seq, :terms, :terms_by, :names, :model, :vector, :token_ids)
ON CONFLICT (scope_id, seq) DO UPDATE
    SET terms = excluded.terms, terms_by = excluded.terms_by, names = excluded.names, model = excluded.model,
        vector = excluded.vector, token_ids = excluded.token_ids;

-- name: want_vector
-- Have a vector of a memory made in a further space, if it has none there.
INSERT INTO vectors (scope_id, seq, space) VALUES (:scope_id, :seq, :space) ON CONFLICT DO NOTHING;

-- name: want_vectors
-- The same for every fact of a scope, closed ones too; by the primary key.
INSERT INTO vectors (scope_id, seq, space)
SELECT scope_id, seq, :space FROM memories WHERE scope_id = :scope_id AND kind = 'fact' ON CONFLICT DO NOTHING;

-- name: empty_vectors
-- Have the vectors of a memory in further spaces made anew; by the unique key.
UPDATE vectors SET model = NULL, vector = NULL WHERE scope_id = :scope_id AND seq = :seq AND model IS NOT NULL;

-- name: mark_space
-- Mark a scope as one whose facts all have vectors in a further space, if it is not marked.
UPDATE scopes SET spaces = json_insert(spaces, '$[#]', :space)
 WHERE id = :scope_id AND :space NOT IN (SELECT value FROM json_each(spaces));

-- postgres: mark_space
UPDATE scopes SET spaces = (spaces::jsonb || to_jsonb(:space))::text
 WHERE id = :scope_id AND NOT jsonb_exists(spaces::jsonb, :space);

-- name: put_vector
-- Write a vector of a memory in a further space.
INSERT INTO vectors (scope_id, seq, space, part, model, vector)
VALUES (:scope_id, :seq, :space, :part, :model, :vector)
ON CONFLICT (scope_id, seq, space, part) DO UPDATE SET model = excluded.model, vector = excluded.vector;

-- name: vectors_of
-- The vectors of a memory in further spaces; by the unique key.
SELECT space, part, model, vector, seq || ' ' || space || ' ' || part AS place
  FROM vectors WHERE scope_id = :scope_id AND seq = :seq;

-- name: put_codes
-- Write or replace the token codes of a memory.
INSERT INTO codes (scope_id, seq, codes) VALUES (:scope_id, :seq, :codes)
ON CONFLICT (scope_id, seq) DO UPDATE SET codes = excluded.codes;

-- name: keep_closed_copy
-- Keep the state of a memory that is about to be rewritten, under an id of its own; it held until a time, or never.
INSERT INTO memories
    (scope_id, seq, id, kind, change, agent, app, conversation, role, speaker, said_at, effective_at, expires_at,
     valid_from, valid_until, content_hash, created_at, updated_at, expires_on, valid_to, replaced_by, text, metadata,
     extra, origin)
SELECT scope_id, :seq, :copy_id, kind, :change, agent, app, conversation, role, speaker, said_at, effective_at,
       expires_at,
       valid_from, CASE WHEN valid_from > :until THEN valid_from ELSE :until END, content_hash, created_at,
       updated_at, expires_on,
       :now_text, id, :text, :metadata, :extra, origin
  FROM memories WHERE scope_id = :scope_id AND seq = :of_seq;

-- name: entry
-- The words, the names and the vector of a memory; at most one row, by the primary key.
SELECT terms, terms_by, names, model, vector, token_ids FROM entries WHERE scope_id = :scope_id AND seq = :seq;

-- name: codes
-- The token codes of a memory; at most one row, by the primary key.
SELECT codes FROM codes WHERE scope_id = :scope_id AND seq = :seq;

-- name: rewrite_memory
-- Give a memory another text and its origin, valid from a time.
UPDATE memories
   SET text = :text, content_hash = :content_hash, origin = :origin, updated_at = :updated_at,
       effective_at = :effective_at, valid_from = :since, change = :change
 WHERE scope_id = :scope_id AND seq = :seq;

-- name: renew_memory
-- Confirm a memory as of a time.
UPDATE memories SET updated_at = :updated_at, effective_at = :effective_at, change = :change
 WHERE scope_id = :scope_id AND seq = :seq;

-- name: earlier_state
-- The newest closed copy of a memory with a text: its number, and since when it held; at most one row, by index
-- memories_by_successor. Another memory that it replaced is none: that one has a history.
SELECT m.seq, m.valid_from FROM memories AS m
 WHERE m.scope_id = :scope_id AND m.replaced_by = :id AND m.content_hash = :content_hash AND m.valid_to IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM history AS h WHERE h.scope_id = :scope_id AND h.memory_id = m.id)
 ORDER BY m.seq DESC LIMIT 1;

-- name: drop_state
-- Delete a closed copy.
DELETE FROM memories WHERE scope_id = :scope_id AND seq = :seq;

-- name: set_metadata
-- Give a memory other metadata.
UPDATE memories SET metadata = :metadata WHERE scope_id = :scope_id AND seq = :seq;

-- name: set_last_day
-- Give a memory another last day, or none.
UPDATE memories SET expires_on = :expires_on, expires_at = :expires_at WHERE scope_id = :scope_id AND seq = :seq;

-- name: reopen_memory
-- Make a closed memory current again, or the past state that it was.
UPDATE memories SET valid_to = :valid_to, valid_until = :valid_until, replaced_by = :replaced_by, change = :change
 WHERE scope_id = :scope_id AND seq = :seq;

-- name: close_memory
-- Take a memory out of what is current, and say which one replaced it, if any did. It held until a time, without one
-- never.
UPDATE memories SET valid_to = :now_text, valid_until = coalesce(:until, valid_from, :now), replaced_by = :successor,
       change = :change
 WHERE scope_id = :scope_id AND seq = :seq;

-- name: told_in_past
-- Whether a memory had this text at a time before; by index memories_by_successor.
SELECT 1 FROM memories
 WHERE scope_id = :scope_id AND replaced_by = :successor AND valid_to IS NOT NULL AND content_hash = :content_hash
   AND (valid_from IS NULL OR valid_from <= :begin) AND (valid_until IS NULL OR valid_until > :begin)
 LIMIT 1;

-- name: next_in_past
-- When the first of a memory's past states begins between two times; by index memories_by_successor.
SELECT min(valid_from) FROM memories
 WHERE scope_id = :scope_id AND replaced_by = :successor AND valid_to IS NOT NULL
   AND valid_from > :begin AND valid_from < :until;

-- name: end_in_past
-- End the past states of a memory that held at a time at which another one is put; by index memories_by_successor.
UPDATE memories SET valid_to = :now_text, valid_until = :now, change = :change
 WHERE scope_id = :scope_id AND replaced_by = :successor AND valid_to IS NOT NULL AND id <> :id
   AND valid_from < :now AND valid_until > :now;

-- name: drop_codes
-- Delete the token codes of a memory.
DELETE FROM codes WHERE scope_id = :scope_id AND seq = :seq;

-- name: next_source
-- The number of the next turns; one row, by the primary key.
SELECT {next sources.id};

-- name: add_source
-- Keep the turns of one commit, and which message they end with.
INSERT INTO sources (id, scope_id, turns, session, last_message)
VALUES (:source_id, :scope_id, :turns, :session, :last_message);

-- name: next_events
-- The numbers of the next events, which none ever had, so many, ascending.
WITH RECURSIVE places (place) AS (SELECT 1 UNION ALL SELECT place + 1 FROM places WHERE place < :count)
SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'history'), 0) + place FROM places;

-- postgres: next_events
SELECT nextval(pg_get_serial_sequence('history', 'number')) FROM generate_series(1, :count);

-- name: add_history
-- One event of a memory.
INSERT INTO history
    (number, scope_id, memory_id, agent, app, conversation, event, at, reason, model, source_id, change_id, undo_of, left_hash,
     old_text, new_text, state)
VALUES
    (:number, :scope_id, :memory_id, :agent, :app, :conversation, :event, :at, :reason, :model, :source_id, :change_id,
     :undo_of, :left_hash, :old_text, :new_text, :state);

-- name: current_of_scope
-- How many current memories a scope has, decayed ones too; by index memories_by_age.
SELECT count(*) FROM memories
 WHERE scope_id = :scope_id AND valid_to IS NULL
   AND (:agent IS NULL OR agent = :agent) AND (:app IS NULL OR app = :app)
   AND (:conversation IS NULL OR conversation = :conversation);

-- name: delete_all
-- Delete every memory and closed state of a scope, and by cascade their index entries.
DELETE FROM memories
 WHERE scope_id = :scope_id
   AND (:agent IS NULL OR agent = :agent) AND (:app IS NULL OR app = :app)
   AND (:conversation IS NULL OR conversation = :conversation);

-- name: delete_with_past
-- Delete a memory and all closed states it replaced, directly or through others, by index memories_by_successor; and
-- by cascade their index entries.
DELETE FROM memories WHERE scope_id = :scope_id AND seq IN (
    WITH RECURSIVE past (seq, id) AS (
        SELECT seq, id FROM memories WHERE scope_id = :scope_id AND seq = :seq
        UNION
        SELECT m.seq, m.id FROM past JOIN memories AS m ON m.replaced_by = past.id AND m.scope_id = :scope_id
         WHERE m.valid_to IS NOT NULL
           AND (:agent IS NULL OR m.agent = :agent) AND (:app IS NULL OR m.app = :app)
           AND (:conversation IS NULL OR m.conversation = :conversation)
    )
    SELECT seq FROM past
);

-- name: receipt
-- What was answered under a key since a time; at most one row, by the primary key.
SELECT request_hash, reason, applied, proposed FROM receipts
 WHERE scope_id = :scope_id AND key = :key AND given_at >= :since;

-- name: put_receipt
-- Keep an answer; it replaces one under the same key that is too old to count.
INSERT INTO receipts (scope_id, key, request_hash, reason, given_at, applied, proposed)
VALUES (:scope_id, :key, :request_hash, :reason, :given_at, :applied, :proposed)
ON CONFLICT (scope_id, key) DO UPDATE
    SET request_hash = excluded.request_hash, reason = excluded.reason, given_at = excluded.given_at,
        applied = excluded.applied, proposed = excluded.proposed;

-- name: drop_receipts
-- Forget receipts older than a time; by index receipts_by_age.
DELETE FROM receipts WHERE given_at < :before;
