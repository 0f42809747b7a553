-- text: agent, app, conversation, id, project, tenant
-- integer: limit, offset
-- real: at, horizon, now, since
-- bytes: content_hash
-- texts: ids

-- name: counts_of_all
-- How many projects and users have current memories, and how many memories there are; from index memories_by_change.
SELECT count(DISTINCT s.tenant || '/' || s.project), count(*), coalesce(sum(m.memories), 0)
  FROM (SELECT scope_id, count(*) AS memories FROM memories {by memories_by_change}
         WHERE valid_to IS NULL GROUP BY scope_id) AS m
  JOIN scopes AS s ON s.id = m.scope_id AND s.tenant <> '';

-- name: added
-- How many current memories were added on each day since a time, in order of day, which is counted from 1970;
-- from index memories_by_creation.
SELECT CAST(floor(m.said_at / 86400) AS integer), count(*)
  FROM scopes AS s {then join} memories AS m {by memories_by_creation} ON m.scope_id = s.id
 WHERE s.tenant <> '' AND m.said_at >= :since AND m.valid_to IS NULL GROUP BY 1 ORDER BY 1;

-- name: owner_of
-- The user of a project that holds this id, of several the first that had a scope; by the unique key of memories.
SELECT s.user FROM memories AS m JOIN scopes AS s ON s.id = m.scope_id
 WHERE m.id = :id AND s.tenant = :tenant AND s.project = :project
 ORDER BY m.scope_id LIMIT 1;

-- name: users
-- The users of a project that have current memories, in name order; by the unique key of scopes.
SELECT s.user FROM scopes AS s
 WHERE s.tenant = :tenant AND s.project = :project
   AND EXISTS (SELECT 1 FROM memories AS m WHERE m.scope_id = s.id AND m.valid_to IS NULL)
 ORDER BY s.user;

-- name: users_of_agent
-- Those with current memories of an agent, and of an app where one is named, in name order; by index memories_by_agent.
SELECT DISTINCT s.user FROM memories AS m {then join} scopes AS s ON s.id = m.scope_id
 WHERE m.agent = :agent AND m.valid_to IS NULL AND (:app IS NULL OR m.app = :app)
   AND s.tenant = :tenant AND s.project = :project
 ORDER BY s.user;

-- name: users_of_app
-- Those with current memories of an app, in name order; by index memories_by_app.
SELECT DISTINCT s.user FROM memories AS m {then join} scopes AS s ON s.id = m.scope_id
 WHERE m.app = :app AND m.valid_to IS NULL AND s.tenant = :tenant AND s.project = :project
 ORDER BY s.user;

-- name: memory
-- One memory or closed state of a scope; at most one row, by the unique key.
SELECT seq, id, text, created_at, updated_at, metadata, kind, agent, app, conversation, role, speaker, expires_on,
       valid_to, replaced_by, extra, origin
  FROM memories
 WHERE id = :id AND scope_id = :scope_id
   AND (:agent IS NULL OR agent = :agent) AND (:app IS NULL OR app = :app)
   AND (:conversation IS NULL OR conversation = :conversation);

-- name: current
-- Those of certain memories (JSON) of a scope that are current and have neither decayed nor expired, each with the time since
-- which it has its text, in no order; by the unique key.
SELECT seq, id, text, created_at, updated_at, metadata, kind, agent, app, conversation, role, speaker, expires_on,
       valid_to, replaced_by, extra, origin, valid_from
  FROM memories
 WHERE id {in ids} AND scope_id = :scope_id AND valid_to IS NULL
   AND (:agent IS NULL OR agent = :agent) AND (:app IS NULL OR app = :app)
   AND (:conversation IS NULL OR conversation = :conversation)
   AND (:horizon IS NULL OR effective_at IS NULL OR effective_at >= :horizon)
   AND (expires_at IS NULL OR expires_at > :now);

-- name: page
-- Current memories of a scope that have neither decayed nor expired, newest first; by index memories_by_age.
SELECT seq, id, text, created_at, updated_at, metadata, kind, agent, app, conversation, role, speaker, expires_on,
       valid_to, replaced_by, extra, origin
  FROM memories
 WHERE scope_id = :scope_id AND valid_to IS NULL
   AND (:agent IS NULL OR agent = :agent) AND (:app IS NULL OR app = :app)
   AND (:conversation IS NULL OR conversation = :conversation)
   AND (:horizon IS NULL OR effective_at IS NULL OR effective_at >= :horizon)
   AND (expires_at IS NULL OR expires_at > :now)
 ORDER BY said_at DESC NULLS LAST, id DESC LIMIT :limit OFFSET :offset;

-- name: count
-- How many `page` gives without a limit; by index memories_by_age.
SELECT count(*) FROM memories
 WHERE scope_id = :scope_id AND valid_to IS NULL
   AND (:agent IS NULL OR agent = :agent) AND (:app IS NULL OR app = :app)
   AND (:conversation IS NULL OR conversation = :conversation)
   AND (:horizon IS NULL OR effective_at IS NULL OR effective_at >= :horizon)
   AND (expires_at IS NULL OR expires_at > :now);

-- name: page_of_the_past
-- What was current at an instant, newest first; by index memories_by_age.
SELECT seq, id, text, created_at, updated_at, metadata, kind, agent, app, conversation, role, speaker, expires_on,
       valid_to, replaced_by, extra, origin
  FROM memories
 WHERE scope_id = :scope_id
   AND (valid_from IS NULL OR valid_from <= :at) AND (valid_until IS NULL OR valid_until > :at)
   AND (:agent IS NULL OR agent = :agent) AND (:app IS NULL OR app = :app)
   AND (:conversation IS NULL OR conversation = :conversation)
   AND (:horizon IS NULL OR effective_at IS NULL OR effective_at >= :horizon)
   AND (expires_at IS NULL OR expires_at > :now)
 ORDER BY said_at DESC NULLS LAST, id DESC LIMIT :limit OFFSET :offset;

-- name: count_of_the_past
-- How many `page_of_the_past` gives without a limit.
SELECT count(*) FROM memories
 WHERE scope_id = :scope_id
   AND (valid_from IS NULL OR valid_from <= :at) AND (valid_until IS NULL OR valid_until > :at)
   AND (:agent IS NULL OR agent = :agent) AND (:app IS NULL OR app = :app)
   AND (:conversation IS NULL OR conversation = :conversation)
   AND (:horizon IS NULL OR effective_at IS NULL OR effective_at >= :horizon)
   AND (expires_at IS NULL OR expires_at > :now);

-- name: same_text
-- Current facts of one normal form, the last renewed first; by index one_current_fact_of_a_text.
SELECT seq, id, text, created_at, updated_at, metadata, kind, agent, app, conversation, role, speaker, expires_on,
       valid_to, replaced_by, extra, origin
  FROM memories
 WHERE scope_id = :scope_id AND content_hash = :content_hash AND kind = 'fact' AND valid_to IS NULL
   AND (:agent IS NULL OR agent = :agent) AND (:app IS NULL OR app = :app)
   AND (:conversation IS NULL OR conversation = :conversation)
 ORDER BY effective_at IS NULL DESC, effective_at DESC, seq DESC;

-- name: last_messages
-- The messages stored last in one conversation (NULL: those outside any), newest first; by index
-- messages_of_conversation.
SELECT seq, id, text, created_at, updated_at, metadata, kind, agent, app, conversation, role, speaker, expires_on,
       valid_to, replaced_by, extra, origin
  FROM memories
 WHERE scope_id = :scope_id AND conversation IS NOT DISTINCT FROM :conversation
   AND kind = 'message' AND valid_to IS NULL
   AND agent IS NOT DISTINCT FROM :agent AND app IS NOT DISTINCT FROM :app
 ORDER BY seq DESC LIMIT :limit;

-- name: history
-- The events of one memory, oldest first; by index history_of_memory.
SELECT h.number, h.memory_id, h.event, h.old_text, h.new_text, h.at, h.reason, h.model, s.turns, s.session, s.id,
       h.change_id
  FROM history AS h LEFT JOIN sources AS s ON s.scope_id = h.scope_id AND s.id = h.source_id
 WHERE h.scope_id = :scope_id AND h.memory_id = :id
   AND (:agent IS NULL OR h.agent = :agent) AND (:app IS NULL OR h.app = :app)
   AND (:conversation IS NULL OR h.conversation = :conversation)
 ORDER BY h.number;

-- name: last_event
-- The last event of one memory; at most one row, by index history_of_memory.
SELECT event, old_text, state, number FROM history
 WHERE scope_id = :scope_id AND memory_id = :id
   AND (:agent IS NULL OR agent = :agent) AND (:app IS NULL OR app = :app)
   AND (:conversation IS NULL OR conversation = :conversation)
 ORDER BY number DESC LIMIT 1;

-- name: any_memory
-- At most one row: that reading works.
SELECT seq FROM memories LIMIT 1;
