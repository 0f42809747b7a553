-- expand
-- What was added on which day. The file of each user is read again once for the days of its messages, and each project
-- file for the times of its memories.

CREATE TABLE catalogued_days (
    place TEXT NOT NULL REFERENCES catalogue (place) ON DELETE CASCADE,
    day TEXT NOT NULL,
    messages INTEGER NOT NULL,
    PRIMARY KEY (place, day)
) STRICT, WITHOUT ROWID;

CREATE INDEX messages_by_day ON catalogued_days (day, messages);

-- `valid_to` stands in it so that it answers alone.
CREATE INDEX memories_by_creation ON memories (scope_id, said_at, valid_to) WHERE valid_to IS NULL;

ALTER TABLE file_index ADD COLUMN said_at REAL;

CREATE INDEX file_index_by_age ON file_index (said_at);

UPDATE catalogue SET stamp = '';
UPDATE file_projects SET stamp = '';
