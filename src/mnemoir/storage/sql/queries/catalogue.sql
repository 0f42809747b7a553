-- text: before, day, place, since, stamp, used_at
-- integer: embeddable, embedded, messages
-- bytes: digest

-- name: stamps
-- The stamp of every file at its last inspection, with its place, unsorted.
SELECT place, stamp FROM catalogue;

-- name: put_file
-- Insert or replace the totals of a file.
INSERT INTO catalogue (place, stamp, messages, embeddable, embedded)
VALUES (:place, :stamp, :messages, :embeddable, :embedded)
ON CONFLICT (place) DO UPDATE
    SET stamp = excluded.stamp, messages = excluded.messages, embeddable = excluded.embeddable,
        embedded = excluded.embedded;

-- name: messages
-- The messages of every file at its last inspection, with its place, unsorted.
SELECT place, messages FROM catalogue;

-- name: conversations
-- The conversations of one file with their last activity, unsorted; by the primary key.
SELECT digest, used_at FROM catalogued_conversations WHERE place = :place;

-- name: put_conversation
-- One conversation of a file.
INSERT INTO catalogued_conversations (place, digest, used_at) VALUES (:place, :digest, :used_at)
ON CONFLICT (place, digest) DO UPDATE SET used_at = excluded.used_at;

-- name: drop_conversation
-- Delete a conversation that a file no longer contains.
DELETE FROM catalogued_conversations WHERE place = :place AND digest = :digest;

-- name: days
-- The days of one file with their messages, unsorted; by the primary key.
SELECT day, messages FROM catalogued_days WHERE place = :place;

-- name: put_day
-- One day of a file.
INSERT INTO catalogued_days (place, day, messages) VALUES (:place, :day, :messages)
ON CONFLICT (place, day) DO UPDATE SET messages = excluded.messages;

-- name: drop_day
-- Delete a day on which a file has no messages any longer, or which is too long ago.
DELETE FROM catalogued_days WHERE place = :place AND day = :day;

-- name: messages_by_day
-- How many messages all files have of each day since one, in order of day; from index messages_by_day.
SELECT day, sum(messages) FROM catalogued_days WHERE day >= :since GROUP BY day ORDER BY day;

-- name: drop_file
-- Delete a file, with its conversations and days.
DELETE FROM catalogue WHERE place = :place;

-- name: places_with
-- The files that hold a conversation of an id, by place; by index conversations_by_digest.
SELECT place FROM catalogued_conversations WHERE digest = :digest ORDER BY place;

-- name: places_used_before
-- The files with a conversation that was last used before a time, by place; by index conversations_by_use.
SELECT DISTINCT place FROM catalogued_conversations WHERE used_at < :before ORDER BY place;

-- name: total
-- The totals over all files; one row.
SELECT (SELECT count(*) FROM catalogued_conversations), coalesce(sum(messages), 0), coalesce(sum(embeddable), 0),
       coalesce(sum(embedded), 0)
  FROM catalogue;
