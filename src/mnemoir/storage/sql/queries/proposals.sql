-- text: agent, app, at, conversation, event, id, memory_id, message_uid, model, previous_text, project, reason, session
-- text: state, successor, tenant, text
-- integer: before, limit, most, number, source_id
-- real: proposed_at, since
-- bytes: content_hash, known_hash

-- part: proposal
SELECT number, id, event, memory_id, agent, app, conversation, reason, proposed_at, at, successor, model, session,
       text, previous_text, state
  FROM proposals

-- name: page_of_proposals
-- The proposals of a scope before one that are not too old, newest first; by the primary key.
{proposal}
 WHERE scope_id = :scope_id AND number < :before AND proposed_at >= :since
 ORDER BY number DESC LIMIT :limit;

-- name: all_proposals
-- The proposals of a scope that are not too old, oldest first; by the primary key.
{proposal}
 WHERE scope_id = :scope_id AND proposed_at >= :since
   AND (:agent IS NULL OR agent = :agent) AND (:app IS NULL OR app = :app)
   AND (:conversation IS NULL OR conversation = :conversation)
 ORDER BY number;

-- name: proposal
-- One proposal of a scope that is not too old; at most one row, by the unique key.
{proposal}
 WHERE scope_id = :scope_id AND id = :id AND proposed_at >= :since;

-- name: proposals_from_message
-- The ids of a scope's proposals whose turns end with a message; by indexes sources_by_last_message and
-- proposals_by_source.
SELECT id FROM proposals
 WHERE scope_id = :scope_id
   AND source_id IN (SELECT id FROM sources WHERE scope_id = :scope_id AND last_message = :message_uid);

-- name: count_of_proposals
-- How many proposals of a scope are not too old; by the primary key.
SELECT count(*) FROM proposals WHERE scope_id = :scope_id AND proposed_at >= :since;

-- name: owner_of_proposal
-- The user of a project that has a proposal; by index proposals_by_id.
SELECT s.user FROM proposals AS p JOIN scopes AS s ON s.id = p.scope_id
 WHERE p.id = :id AND s.tenant = :tenant AND s.project = :project LIMIT 1;

-- name: users_with_proposals
-- The users of a project that have proposals, in name order; by the unique key of scopes.
SELECT s.user FROM scopes AS s
 WHERE s.tenant = :tenant AND s.project = :project
   AND EXISTS (SELECT 1 FROM proposals AS p WHERE p.scope_id = s.id AND p.proposed_at >= :since)
 ORDER BY s.user;

-- name: proposals_of_all
-- How many proposals all users have that are not too old; from index proposals_by_age.
SELECT count(*) FROM proposals WHERE proposed_at >= :since;

-- name: next_number
-- The number of the next proposal of a scope; one row, by the primary key.
SELECT coalesce(max(number), 0) + 1 FROM proposals WHERE scope_id = :scope_id;

-- name: put_proposal
-- Store a proposal, unless the scope has one of its id.
INSERT INTO proposals
    (scope_id, number, id, event, memory_id, agent, app, conversation, reason, proposed_at, at, successor, model,
     session, source_id, content_hash, text, previous_text, state)
VALUES
    (:scope_id, :number, :id, :event, :memory_id, :agent, :app, :conversation, :reason, :proposed_at, :at, :successor,
     :model, :session, :source_id, :content_hash, :text, :previous_text, :state)
ON CONFLICT DO NOTHING;

-- name: rewrite_proposal
-- Give a proposal another text, if it has the one that was read; by the unique key.
UPDATE proposals SET text = :text, content_hash = :content_hash, reason = :reason
 WHERE scope_id = :scope_id AND id = :id AND content_hash = :known_hash;

-- name: take_proposal
-- Delete a proposal if it has the text that was read; gives its number, turns and model. By the unique key.
DELETE FROM proposals WHERE scope_id = :scope_id AND id = :id AND content_hash = :known_hash
RETURNING source_id, model;

-- name: drop_proposal
-- Delete a proposal; gives the number of its turns. By the unique key.
DELETE FROM proposals WHERE scope_id = :scope_id AND id = :id RETURNING source_id;

-- name: beyond
-- The proposals of a scope beyond the newest ones; by the primary key.
SELECT id FROM proposals WHERE scope_id = :scope_id ORDER BY number DESC LIMIT 9223372036854775807 OFFSET :most;

-- name: too_old
-- The proposals of all scopes whose users are not on hold from before a time; by index proposals_by_age.
SELECT scope_id, id FROM proposals
 WHERE proposed_at < :since
   AND NOT EXISTS (SELECT 1 FROM scopes AS s JOIN holds AS o ON o.tenant = s.tenant AND o.user = s.user
                    WHERE s.id = proposals.scope_id);

-- name: drop_unused_source
-- Delete the turns of no event and no proposal; by their number.
DELETE FROM sources
 WHERE id = :source_id AND scope_id = :scope_id
   AND NOT EXISTS (SELECT 1 FROM history WHERE scope_id = :scope_id AND source_id = :source_id)
   AND NOT EXISTS (SELECT 1 FROM proposals WHERE scope_id = :scope_id AND source_id = :source_id);

-- name: erase_proposals
-- Delete the proposals of a scope.
DELETE FROM proposals
 WHERE scope_id = :scope_id
   AND (:agent IS NULL OR agent = :agent) AND (:app IS NULL OR app = :app)
   AND (:conversation IS NULL OR conversation = :conversation);
