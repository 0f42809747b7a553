-- text: id, message_uid, project, tenant
-- integer: before

-- part: event
SELECT h.number, h.change_id, h.undo_of, h.at, h.model, s.session, h.event,
       h.memory_id, h.old_text, h.new_text, h.reason, h.state, h.left_hash, h.agent, h.app, h.conversation
  FROM history AS h LEFT JOIN sources AS s ON s.scope_id = h.scope_id AND s.id = h.source_id

-- name: events_before
-- The events of a scope before one, newest first, without those of commits with erased words; by index
-- history_of_scope.
{event}
 WHERE h.scope_id = :scope_id AND h.number < :before AND h.change_id <> ''
 ORDER BY h.number DESC;

-- name: events_of_change
-- The events of one commit, newest first; by index history_of_change.
{event}
 WHERE h.scope_id = :scope_id AND h.change_id = :id
 ORDER BY h.number DESC;

-- name: events_from_message
-- The events of commits whose turns end with a message, newest first; by indexes sources_by_last_message and
-- history_by_source.
{event}
 WHERE h.scope_id = :scope_id
   AND h.source_id IN (SELECT id FROM sources WHERE scope_id = :scope_id AND last_message = :message_uid)
 ORDER BY h.number DESC;

-- name: undos
-- The listed commits of a scope that undid others, with these, newest first; by index history_of_undos.
SELECT change_id, undo_of FROM history
 WHERE scope_id = :scope_id AND undo_of IS NOT NULL AND change_id <> ''
 GROUP BY change_id, undo_of ORDER BY max(number) DESC;

-- name: owner_of_change
-- The user of a project that made a commit; by index history_of_change.
SELECT s.user FROM history AS h JOIN scopes AS s ON s.id = h.scope_id
 WHERE h.change_id = :id AND s.tenant = :tenant AND s.project = :project LIMIT 1;

-- name: last_change_of
-- The commit of the last event of a memory; at most one row, by index history_of_memory.
SELECT change_id FROM history
 WHERE scope_id = :scope_id AND memory_id = :id ORDER BY number DESC LIMIT 1;

-- name: ends
-- What ended and began a memory, oldest first: event, time, commit, and which commit that undid; by index
-- history_of_memory.
SELECT event, at, change_id, undo_of FROM history
 WHERE scope_id = :scope_id AND memory_id = :id AND event <> 'UPDATE' ORDER BY number;

-- name: unlist
-- Take the commits that changed a memory out of the list; by indexes history_of_memory and history_of_change.
UPDATE history SET change_id = ''
 WHERE number IN (
    SELECT number FROM history WHERE scope_id = :scope_id AND memory_id = :id
     UNION
    SELECT other.number FROM history AS own JOIN history AS other
        ON other.change_id = own.change_id AND other.scope_id = own.scope_id
     WHERE own.scope_id = :scope_id AND own.memory_id = :id AND own.change_id <> '');
