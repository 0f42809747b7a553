-- name: put_job
-- Write a job down; nothing happens when its id is there.
INSERT INTO jobs (id, kind, queue, state, due_at, created_at, updated_at, payload)
VALUES (:id, :kind, :queue, 'PENDING', :due_at, :now, :now, :payload) ON CONFLICT (id) DO NOTHING;

-- name: claim_job
-- Take the oldest job that is due and first in its queue, which is given back; no row when there is none; by indexes
-- jobs_waiting and jobs_in_queue.
UPDATE jobs SET state = 'RUNNING', attempts = attempts + 1, updated_at = :now
 WHERE number = (
    SELECT number FROM jobs AS job
     WHERE state = 'PENDING' AND due_at <= :due_at
       AND (queue = '' OR number = (SELECT min(number) FROM jobs WHERE queue = job.queue AND ended_at IS NULL))
     ORDER BY number LIMIT 1)
RETURNING id, kind, payload, state, attempts, created_at, updated_at, result, error;

-- name: next_due
-- When the first waiting job that is first in its queue is due; one row, NULL when there is none; by indexes
-- jobs_waiting and jobs_in_queue.
SELECT min(due_at) FROM jobs AS job
 WHERE state = 'PENDING'
   AND (queue = '' OR number = (SELECT min(number) FROM jobs WHERE queue = job.queue AND ended_at IS NULL));

-- name: jobs_of_queue
-- The newest jobs of a queue that have not ended, newest first; by index jobs_in_queue.
SELECT id, kind, payload, state, attempts, created_at, updated_at, result, error FROM jobs
 WHERE queue = :queue AND ended_at IS NULL ORDER BY number DESC LIMIT :limit;

-- name: job
-- One job; at most one row, by the unique key.
SELECT id, kind, payload, state, attempts, created_at, updated_at, result, error FROM jobs WHERE id = :id;

-- name: succeed_job
-- Note that a job is done; its payload is needed no more.
UPDATE jobs
   SET state = 'SUCCEEDED', result = :result, payload = '{}', error = NULL, ended_at = :ended_at, updated_at = :now
 WHERE id = :id;

-- name: fail_job
-- Note that a job is given up.
UPDATE jobs SET state = 'FAILED', error = :error, ended_at = :ended_at, updated_at = :now WHERE id = :id;

-- name: retry_job
-- Put a job back until a time.
UPDATE jobs SET state = 'PENDING', error = :error, due_at = :due_at, updated_at = :now WHERE id = :id;

-- name: resume_jobs
-- Put back every job that was running, due when it was; by index jobs_running.
UPDATE jobs SET state = 'PENDING', updated_at = :now WHERE state = 'RUNNING';

-- name: drop_ended_jobs
-- Forget jobs that ended before a time; by index jobs_ended.
DELETE FROM jobs WHERE ended_at IS NOT NULL AND ended_at < :before;

-- name: kept_jobs
-- The jobs of a queue, ended ones too, oldest first; by looking at those of a week.
SELECT id, kind, payload, state, attempts, created_at, updated_at, result, error FROM jobs
 WHERE queue = :queue ORDER BY number;

-- name: tally_jobs
-- How many jobs that did not succeed there are by kind and state, by kind; by looking at
-- all jobs of a week.
SELECT kind, count(*) FILTER (WHERE state = 'PENDING'), count(*) FILTER (WHERE state = 'RUNNING'),
       count(*) FILTER (WHERE state = 'FAILED')
  FROM jobs
 WHERE state <> 'SUCCEEDED'
 GROUP BY kind ORDER BY kind;

-- name: remove_job
-- Forget a job that is not running.
DELETE FROM jobs WHERE id = :id AND state <> 'RUNNING';
