-- text: error, id, incarnation, kind, now, payload, queue, result, worker
-- integer: attempts, limit, most
-- real: at, before, due_at, ended_at, lease_s

-- part: job
-- The columns of a job.
id, kind, payload, state, attempts, created_at, updated_at, result, error

-- name: put_job
-- Insert a job unless its id exists. Gives what it waits for, no row when the id exists. By index jobs_in_queue.
INSERT INTO jobs (id, kind, queue, state, waits_for, due_at, created_at, updated_at, payload)
VALUES (:id, :kind, :queue, 'PENDING',
        CASE WHEN :queue <> '' AND EXISTS (SELECT 1 FROM jobs WHERE queue = :queue AND ended_at IS NULL)
             THEN 'turn' ELSE 'worker' END,
        :due_at, :now, :now, :payload)
ON CONFLICT (id) DO NOTHING
RETURNING waits_for;

-- name: make_due_claimable
-- Make jobs claimable that were put back and are due again; by index jobs_put_back.
UPDATE jobs SET waits_for = 'worker' WHERE waits_for = 'time' AND due_at <= :at;

-- name: claim_jobs
-- Lease the oldest jobs that wait for a worker, so many at most, which are given back with their numbers, unsorted; by
-- index jobs_claimable.
UPDATE jobs
   SET state = 'RUNNING', waits_for = NULL, worker = :worker, lease_until = {clock at} + :lease_s,
       attempts = attempts + 1, updated_at = :now
 WHERE number IN (SELECT number FROM jobs WHERE waits_for = 'worker' ORDER BY number LIMIT :most
                  {held unless taken})
RETURNING {job}, number;

-- name: extend_lease
-- Extend the lease of a job, if the worker still has it.
UPDATE jobs SET lease_until = {clock at} + :lease_s WHERE id = :id AND state = 'RUNNING' AND worker = :worker;

-- name: put_back_lapsed
-- Make jobs claimable again whose lease has ended; by index jobs_leased.
UPDATE jobs SET state = 'PENDING', waits_for = 'worker', worker = NULL, lease_until = NULL, updated_at = :now
 WHERE state = 'RUNNING' AND lease_until <= {clock at};

-- name: put_back_of_ended
-- The same for jobs whose worker belongs to an earlier opening of the database; by index jobs_leased.
UPDATE jobs SET state = 'PENDING', waits_for = 'worker', worker = NULL, lease_until = NULL, updated_at = :now
 WHERE state = 'RUNNING' AND substr(worker, 1, length(:incarnation)) <> :incarnation;

-- name: next_due
-- When the oldest job that waits for a worker was due, else when the first that was put back is; one row, NULL when
-- none of either waits; by indexes jobs_claimable and jobs_put_back.
SELECT coalesce((SELECT due_at FROM jobs WHERE waits_for = 'worker' ORDER BY number LIMIT 1),
                (SELECT due_at FROM jobs WHERE waits_for = 'time' ORDER BY due_at LIMIT 1));

-- name: next_of_queue
-- Make the first job of a queue that has not ended claimable; by index jobs_in_queue.
UPDATE jobs SET waits_for = 'worker'
 WHERE waits_for = 'turn'
   AND number = (SELECT number FROM jobs WHERE queue = :queue AND ended_at IS NULL ORDER BY number LIMIT 1);

-- name: jobs_of_queue
-- The newest jobs of a queue that have not ended, newest first; by index jobs_in_queue.
SELECT {job} FROM jobs
 WHERE queue = :queue AND ended_at IS NULL ORDER BY number DESC LIMIT :limit;

-- name: job
-- One job; at most one row, by the unique key.
SELECT {job} FROM jobs WHERE id = :id;

-- name: succeed_job
-- Note that a leased job is done; its payload is needed no more. Gives its queue; no row when the lease is another's.
UPDATE jobs
   SET state = 'SUCCEEDED', result = :result, payload = '{}', error = NULL, worker = NULL, lease_until = NULL,
       ended_at = :ended_at, updated_at = :now
 WHERE id = :id AND state = 'RUNNING' AND attempts = :attempts
RETURNING queue;

-- name: fail_job
-- Note that a leased job is given up. Gives its queue; no row when the lease is another's.
UPDATE jobs
   SET state = 'FAILED', error = :error, worker = NULL, lease_until = NULL, ended_at = :ended_at, updated_at = :now
 WHERE id = :id AND state = 'RUNNING' AND attempts = :attempts
RETURNING queue;

-- name: failed_jobs
-- The newest jobs that were given up, newest first; by index jobs_ended.
SELECT {job} FROM jobs WHERE ended_at IS NOT NULL AND state = 'FAILED' ORDER BY ended_at DESC LIMIT :limit;

-- name: queue_of_job
-- The queue of a job; at most one row, by the unique key.
SELECT queue FROM jobs WHERE id = :id;

-- name: revive_job
-- Put a job that was given up back into its queue, before later ones; no row when it is in another state; by the unique
-- key and index jobs_in_queue.
UPDATE jobs
   SET state = 'PENDING', ended_at = NULL, due_at = :due_at, updated_at = :now,
       waits_for = CASE WHEN queue <> '' AND EXISTS (SELECT 1 FROM jobs AS other
                                                      WHERE other.queue = jobs.queue AND other.ended_at IS NULL)
                        THEN 'turn' ELSE 'worker' END
 WHERE id = :id AND state = 'FAILED';

-- name: retry_job
-- Put a leased job back until a time; no row is changed when the lease is another's.
UPDATE jobs
   SET state = 'PENDING', waits_for = 'time', error = :error, due_at = :due_at, worker = NULL, lease_until = NULL,
       updated_at = :now
 WHERE id = :id AND state = 'RUNNING' AND attempts = :attempts;

-- name: drop_ended_jobs
-- Forget jobs that ended before a time; by index jobs_ended.
DELETE FROM jobs WHERE ended_at IS NOT NULL AND ended_at < :before;

-- name: kept_jobs
-- The jobs of a queue, ended ones too, oldest first; by looking at those of a week.
SELECT {job} FROM jobs
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
-- Forget a job that is not running. Gives its queue.
DELETE FROM jobs WHERE id = :id AND state <> 'RUNNING' RETURNING queue;
