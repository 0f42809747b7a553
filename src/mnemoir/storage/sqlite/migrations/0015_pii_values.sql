-- expand
-- The numbers of the placeholders that stand for personal data, such as [EMAIL_1]. A value has one number for a user,
-- and a row for each conversation that it was said in, so that it goes with the last of them. `original` is the value,
-- where it may be turned back. What a project does with personal data.

CREATE TABLE pii_values (
    scope_id INTEGER NOT NULL REFERENCES scopes (id),
    kind TEXT NOT NULL,
    hash BLOB NOT NULL,
    about TEXT NOT NULL CHECK (about IN ('facts', 'messages')),
    session_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    original TEXT,
    PRIMARY KEY (scope_id, kind, hash, about, session_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX pii_values_by_number ON pii_values (scope_id, kind, number);
CREATE INDEX pii_values_by_session ON pii_values (scope_id, session_id);

ALTER TABLE project_settings ADD COLUMN pii_facts TEXT;
ALTER TABLE project_settings ADD COLUMN pii_messages TEXT;
ALTER TABLE project_settings ADD COLUMN pii_models TEXT;
