-- name: put_run
-- Write a run down, in place of what is known of it.
REPLACE INTO runs
    (number, id, tenant, project, scope_user, written_at, started_at, status, user, model, workflow, category,
     duration_ms, error, trace)
VALUES
    (:number, :id, :tenant, :project, :scope_user, :written_at, :started_at, :status, :user, :model, :workflow,
     :category, :duration_ms, :error, :trace);

-- name: end_lost_runs
-- Note that runs whose end was never written down are over, but for those in the JSON list of ids; by looking at all.
UPDATE runs SET status = 'failed', error = :error
 WHERE status = 'running' AND id NOT IN (SELECT value FROM json_each(:under_way));

-- name: drop_old_runs
-- Forget runs written down before a time; by looking at all.
DELETE FROM runs WHERE written_at < :before;

-- name: drop_first_runs
-- Forget all but the newest; by the primary key. What was removed in between counts as kept.
DELETE FROM runs WHERE number <= (SELECT max(number) FROM runs) - :most;

-- name: newest_number
-- The number of the run that began last; one row, 0 when there is none; by the primary key.
SELECT coalesce(max(number), 0) FROM runs;

-- name: run
-- One run with its trace; at most one row, by the unique key.
SELECT trace, status, error FROM runs WHERE id = :id;

-- name: latest_runs
-- Runs that began before that of an id, which is none for an id that is gone; newest first, by the primary key.
SELECT id, started_at, status, user, model, workflow, category, duration_ms, error FROM runs
 WHERE number < (SELECT number FROM runs WHERE id = :before) OR :before IS NULL
 ORDER BY number DESC LIMIT :limit;

-- name: latest_runs_of_status
-- The same, only those of one status.
SELECT id, started_at, status, user, model, workflow, category, duration_ms, error FROM runs
 WHERE status = :status AND (number < (SELECT number FROM runs WHERE id = :before) OR :before IS NULL)
 ORDER BY number DESC LIMIT :limit;

-- name: forget_runs
-- Remove the runs of a user, or of a whole project for a user named ''; with a conversation those alone that answered
-- in it or were shown memories. By looking at all.
DELETE FROM runs
 WHERE tenant = :tenant AND project = :project AND (scope_user = :scope_user OR :scope_user = '')
   AND (:conversation IS NULL OR json_extract(trace, '$.scope.conversation') = :conversation
        OR instr(trace, '"memories":["') > 0);
