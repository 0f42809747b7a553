-- expand
-- What the project-file backend derives from its files. The files are the truth, and all of this can be made again
-- from them; history and receipts stand in the tables of step 1.

CREATE TABLE file_projects (
    number INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    project TEXT NOT NULL,
    stamp TEXT,  -- of the file that file_index is in step with; NULL for no file
    UNIQUE (tenant, project)
) STRICT;

CREATE TABLE file_index (
    number INTEGER PRIMARY KEY,
    project_number INTEGER NOT NULL REFERENCES file_projects (number),
    user TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    text_hash BLOB NOT NULL,
    terms BLOB NOT NULL,
    model TEXT,
    vector BLOB,
    token_ids BLOB,
    token_codes BLOB,
    UNIQUE (project_number, user, memory_id)
) STRICT;

CREATE INDEX file_index_by_model ON file_index (model, number, project_number, user, memory_id);
