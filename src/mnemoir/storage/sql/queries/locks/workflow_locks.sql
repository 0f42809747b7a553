-- sqlite alone: the file has the format of the config tree

-- name: create_table
-- The table as the config tree's format has it.
CREATE TABLE IF NOT EXISTS WorkflowLocks (
    Id INTEGER PRIMARY KEY AUTOINCREMENT,
    WilmerSessionId NVARCHAR(50),
    WorkflowId NVARCHAR(50),
    WorkflowLockId NVARCHAR(500),
    ExpirationDate DATETIME
);

-- name: holders_of_lock
-- The instances and runs that other rows of a lock name.
SELECT WilmerSessionId, WorkflowId FROM WorkflowLocks WHERE WorkflowLockId = :lock AND WilmerSessionId IS NOT :instance;

-- name: drop_left_lock
-- What a run left behind that is over.
DELETE FROM WorkflowLocks WHERE WorkflowLockId = :lock AND WilmerSessionId = :instance AND WorkflowId = :run;

-- name: drop_dead_lock
-- Rows of a lock that nobody holds any more: expired, or this instance's own, which knows what it holds.
DELETE FROM WorkflowLocks
 WHERE WorkflowLockId = :lock AND (coalesce(ExpirationDate, '') <= :now OR WilmerSessionId = :instance);

-- name: drop_ended_locks
-- Rows of all locks whose time is over.
DELETE FROM WorkflowLocks WHERE coalesce(ExpirationDate, '') <= :now;

-- name: count_locks
-- How many rows are left.
SELECT count(*) FROM WorkflowLocks;

-- name: take_lock
-- Take a lock that no row names; gives the number of the new row, nothing when one names it.
INSERT INTO WorkflowLocks (WilmerSessionId, WorkflowId, WorkflowLockId, ExpirationDate)
SELECT :instance, :run, :lock, :until WHERE NOT EXISTS (SELECT 1 FROM WorkflowLocks WHERE WorkflowLockId = :lock)
RETURNING Id;

-- name: renew_lock
-- Extend the expiry of one lock of a run.
UPDATE WorkflowLocks SET ExpirationDate = :until
 WHERE WilmerSessionId = :instance AND WorkflowId = :run AND WorkflowLockId = :lock;

-- name: release_lock
-- Release one lock of a run.
DELETE FROM WorkflowLocks WHERE WilmerSessionId = :instance AND WorkflowId = :run AND WorkflowLockId = :lock;
