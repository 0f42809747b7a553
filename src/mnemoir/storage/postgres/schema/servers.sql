-- What several servers over one database share, and a single one over files has in its process or in a file.

-- How often a subject was changed, by which others notice it.
CREATE TABLE versions (
    subject text COLLATE "C" PRIMARY KEY,
    number bigint NOT NULL
);
