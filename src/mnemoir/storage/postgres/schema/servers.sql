-- What several servers over one database share, and a single one over files has in its process or in a file.

-- How often a subject was changed, by which others notice it.
CREATE TABLE versions (
    subject text COLLATE "C" PRIMARY KEY,
    number bigint NOT NULL
);

-- Settings that were saved at a running server, as JSON. `wrapped` is the secret that goes with them, such as the key
-- of a model, and `kek` names what it is encrypted with.
CREATE TABLE saved_settings (
    name text COLLATE "C" PRIMARY KEY,
    value text COLLATE "C" NOT NULL,
    kek text COLLATE "C",
    wrapped bytea
);
