-- contract
-- A job that runs is leased to a worker until a time; `attempts` is the fence of the lease. A job that waits says what
-- for: a worker, its time, or its turn behind an earlier job of its queue. So only the heads of queues are claimable.
-- A job that was running when the program before ended waits again.

ALTER TABLE jobs ADD COLUMN waits_for TEXT CHECK (waits_for IN ('worker', 'time', 'turn'));
ALTER TABLE jobs ADD COLUMN worker TEXT;
ALTER TABLE jobs ADD COLUMN lease_until REAL;

DROP INDEX jobs_waiting;
DROP INDEX jobs_running;

UPDATE jobs SET state = 'PENDING' WHERE state = 'RUNNING';
UPDATE jobs
   SET waits_for = CASE WHEN queue = '' OR number = (SELECT min(number) FROM jobs AS other
                                                      WHERE other.queue = jobs.queue AND other.ended_at IS NULL)
                        THEN 'time' ELSE 'turn' END
 WHERE state = 'PENDING';

CREATE INDEX jobs_claimable ON jobs (waits_for, number) WHERE waits_for = 'worker';
CREATE INDEX jobs_put_back ON jobs (waits_for, due_at) WHERE waits_for = 'time';
CREATE INDEX jobs_leased ON jobs (state, lease_until) WHERE state = 'RUNNING';
