-- text: before_id, category, conversation, day, error, id, lost, model, project, question, since, started_at, status
-- text: tenant, trace, user, user_id, worker, workflow
-- integer: input_tokens, limit, memories, most, most_bytes, nodes, output_tokens, standing, stream
-- integer: tokens_counted
-- real: before, duration_ms, first_token_ms, now, until_s, written_at
-- texts: gone, in_memory, projects, under_way
-- integers: numbers

-- name: put_run
-- Insert a run behind all others, or replace it in its place.
INSERT INTO runs
    (number, id, written_at, started_at, status, question, user, tenant, project, user_id, conversation, model, stream,
     workflow, category, first_token_ms, duration_ms, nodes, memories, standing, input_tokens, output_tokens,
     tokens_counted, error, worker, trace)
VALUES
    (coalesce((SELECT number FROM runs WHERE id = :id), (SELECT {next runs.number})), :id, :written_at, :started_at, :status, :question, :user, :tenant, :project, :user_id, :conversation,
     :model, :stream, :workflow, :category, :first_token_ms, :duration_ms, :nodes, :memories, :standing,
     :input_tokens, :output_tokens, :tokens_counted, :error, :worker, :trace)
ON CONFLICT (id) DO UPDATE
    SET written_at = excluded.written_at, started_at = excluded.started_at, status = excluded.status,
        question = excluded.question, user = excluded.user, tenant = excluded.tenant, project = excluded.project,
        user_id = excluded.user_id, conversation = excluded.conversation, model = excluded.model,
        stream = excluded.stream, workflow = excluded.workflow, category = excluded.category,
        first_token_ms = excluded.first_token_ms, duration_ms = excluded.duration_ms, nodes = excluded.nodes,
        memories = excluded.memories, standing = excluded.standing, input_tokens = excluded.input_tokens,
        output_tokens = excluded.output_tokens,
        tokens_counted = excluded.tokens_counted, error = excluded.error,
        worker = excluded.worker, trace = excluded.trace;

-- name: running_workers
-- The workers that have runs under way, and whether each is known to work; by looking at all.
SELECT DISTINCT runs.worker, workers.name IS NOT NULL
  FROM runs LEFT JOIN workers ON workers.name = runs.worker AND workers.until > {clock now}
 WHERE status = 'running';

-- name: end_lost_runs
-- Note that runs whose end was never written down are over: those of the workers that are gone, and of one worker all
-- but those in the JSON list of ids. By looking at all.
UPDATE runs SET status = 'failed', error = :lost
 WHERE status = 'running' AND (worker {in gone} OR worker = :worker AND id {not in under_way});

-- name: note_worker
-- Note that a worker works, for some seconds from now on.
INSERT INTO workers (name, until) VALUES (:worker, {clock now} + :until_s)
ON CONFLICT (name) DO UPDATE SET until = excluded.until;

-- name: drop_workers
-- Forget one worker, and those not known to work any more.
DELETE FROM workers WHERE name = :worker OR until <= {clock now};

-- name: drop_old_runs
-- Delete runs written before a time; by looking at all.
DELETE FROM runs WHERE written_at < :before;

-- name: drop_first_runs
-- Forget all but the newest; by the primary key. What was removed in between counts as kept.
DELETE FROM runs WHERE number <= (SELECT max(number) FROM runs) - :most;

-- name: drop_runs_over_size
-- Forget all but the newest whose traces come to so many bytes; by looking at the length of each, not at its text.
DELETE FROM runs WHERE number <= (
    SELECT max(number) FROM (SELECT number, sum(octet_length(trace)) OVER (ORDER BY number DESC) AS bytes FROM runs) AS sizes
     WHERE bytes > :most_bytes);

-- name: count_runs
-- How many runs are kept; one row.
SELECT count(*) FROM runs;

-- name: scope_of_run
-- Whose a run is; at most one row, by the unique key.
SELECT tenant, project, user_id FROM runs WHERE id = :id;

-- name: run
-- One run with its trace; at most one row, by the unique key.
SELECT trace, status, error, question FROM runs WHERE id = :id;

-- name: latest_runs
-- Runs that began before that of an id, which is none for an id that is gone; newest first, by the primary key. What is
-- not NULL of the other values narrows them; `numbers` is a JSON list.
SELECT id, started_at, status, question, user, project, user_id, conversation, model, stream, workflow, category, first_token_ms,
       duration_ms, nodes, memories, input_tokens, output_tokens, tokens_counted, error
  FROM runs
 WHERE (:before_id IS NULL OR number < (SELECT number FROM runs WHERE id = :before_id))
   AND (:numbers IS NULL OR number {in numbers})
   AND (:status IS NULL OR status = :status)
   AND (:workflow IS NULL OR lower(workflow) = lower(:workflow))
   AND (:conversation IS NULL OR conversation = :conversation)
   AND (:user IS NULL OR user = :user OR user_id = :user)
   AND (:since IS NULL OR started_at >= :since)
   AND (:tenant IS NULL OR tenant = :tenant)
   AND (:projects IS NULL OR project {in projects})
   AND (:user_id IS NULL OR user_id = :user_id)
 ORDER BY number DESC LIMIT :limit;

-- name: questions
-- The number and question of each run that has one, in no order; by looking at all.
SELECT number, question, id FROM runs WHERE question <> '';

-- name: errors
-- The number and error of each run that has one, in no order; by looking at all.
SELECT number, error, id FROM runs WHERE error IS NOT NULL;

-- name: add_tokens
-- Add the tokens of a run to those of its user's day.
INSERT INTO tokens (day, tenant, project, user_id, input_tokens, output_tokens)
VALUES (:day, :tenant, :project, :user_id, :input_tokens, :output_tokens)
ON CONFLICT (day, tenant, project, user_id) DO UPDATE
    SET input_tokens = tokens.input_tokens + excluded.input_tokens,
        output_tokens = tokens.output_tokens + excluded.output_tokens;

-- name: tokens
-- The tokens of all users on each day since one, in order of day; by the primary key.
SELECT day, sum(input_tokens), sum(output_tokens) FROM tokens WHERE day >= :since GROUP BY day ORDER BY day;

-- name: projects_of
-- The projects in which a user has runs or tokens, by name; by looking at all.
SELECT project FROM runs WHERE tenant = :tenant AND user_id = :user_id
UNION SELECT project FROM tokens WHERE tenant = :tenant AND user_id = :user_id
ORDER BY 1;

-- name: tokens_of
-- The tokens of each day of a user, in order of day; by looking at all.
SELECT day, input_tokens, output_tokens FROM tokens
 WHERE tenant = :tenant AND project = :project AND user_id = :user_id ORDER BY day;

-- name: drop_old_tokens
-- Delete the tokens of days before one; by the primary key.
DELETE FROM tokens WHERE day < :since;

-- name: forget_tokens
-- Delete the tokens of a user, or of a whole project for a user named ''. By looking at all.
DELETE FROM tokens WHERE tenant = :tenant AND project = :project AND (user_id = :user_id OR :user_id = '');

-- name: forget_runs
-- Remove the runs of a user, or of a whole project for a user named ''; with a conversation those alone that answered
-- in it or were shown memories, of the newest question or of former ones, and those in the JSON list of ids, whose rows
-- do not tell that yet. By looking at all.
DELETE FROM runs
 WHERE tenant = :tenant AND project = :project AND (user_id = :user_id OR :user_id = '')
   AND (:conversation IS NULL OR conversation = :conversation OR memories > 0 OR standing > 0 OR id {in in_memory});
