-- text: change_id, conversation, created_at, id, import_id, kind, left_state, program, state, was, zone
-- integer: done, failed, first_message, is_new, last_message, learned, learned_to, limit, stored, to_review
-- integer: turns_left

-- part: import
SELECT id, kind, program, state, created_at, stored, change_id, zone, round, turn_count, done, learned, to_review, failed
  FROM imports

-- part: conversation
SELECT id, conversation, is_new, first_message, last_message, learned_to, left_state FROM import_conversations

-- name: put_import
-- Store an import.
INSERT INTO imports (scope_id, id, kind, program, state, created_at, stored, change_id)
VALUES (:scope_id, :id, :kind, :program, 'stored', :created_at, :stored, :change_id);

-- name: put_conversation
-- Store a conversation of an import.
INSERT INTO import_conversations
    (scope_id, id, import_id, conversation, is_new, first_message, last_message, left_state)
VALUES (:scope_id, :id, :import_id, :conversation, :is_new, :first_message, :last_message, :left_state);

-- name: import
-- One import of a scope; at most one row, by the primary key.
{import}
 WHERE scope_id = :scope_id AND id = :id;

-- name: newest_imports
-- The imports of a scope, newest first; by the primary key.
{import}
 WHERE scope_id = :scope_id ORDER BY created_at DESC, id DESC LIMIT :limit;

-- name: conversations_of
-- The conversations of an import, as they stood in the file; by index import_conversations_of.
{conversation}
 WHERE scope_id = :scope_id AND import_id = :import_id ORDER BY id;

-- name: set_state
-- Give an import another state, if it has the one that is expected; by the primary key.
UPDATE imports SET state = :state WHERE scope_id = :scope_id AND id = :id AND state = :was;

-- name: begin_round
-- Note that learning begins once more, in a time zone, with so many turns left; by the primary key.
UPDATE imports SET state = 'learning', zone = :zone, round = round + 1, turn_count = done + :turns_left
 WHERE scope_id = :scope_id AND id = :id AND state IN ('stored', 'learning', 'stopped');

-- name: move_tracker
-- Note the last message of a conversation that was looked into; it never goes back.
UPDATE import_conversations SET learned_to = :learned_to
 WHERE scope_id = :scope_id AND id = :id AND learned_to < :learned_to;

-- name: count_turn
-- Add one turn and what came of it to the numbers of an import, unless it was counted.
UPDATE imports SET done = done + 1, learned = learned + :learned, to_review = to_review + :to_review,
                   failed = failed + :failed
 WHERE scope_id = :scope_id AND id = :id AND done = :done;

-- name: drop_conversation
-- Forget what is kept of a conversation that is gone; by index import_conversations_by_name.
DELETE FROM import_conversations WHERE scope_id = :scope_id AND conversation = :conversation;

-- name: drop_empty_imports
-- Forget imports of which no conversation is left; by the primary key and index import_conversations_of.
DELETE FROM imports
 WHERE scope_id = :scope_id AND kind = 'conversations'
   AND NOT EXISTS (SELECT 1 FROM import_conversations AS c
                    WHERE c.scope_id = :scope_id AND c.import_id = imports.id);

-- name: stop_learning
-- Stop what is being learned of a scope's imports; by the primary key.
UPDATE imports SET state = 'stopped' WHERE scope_id = :scope_id AND state = 'learning';
