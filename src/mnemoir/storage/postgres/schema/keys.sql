-- The keys that cells are encrypted with: for each user of a project one after the other, and for the server itself.
-- `wrapped` is the key encrypted by the key of the provider that `kek` names; NULL for a key that was destroyed, which
-- has a name in place of its user's. Ids are random, so that those of a store that was lost are not given again.

CREATE TABLE data_keys (
    id bigint PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    project text COLLATE "C" NOT NULL,
    "user" text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    kek text COLLATE "C" NOT NULL,
    wrapped bytea,
    made_at text COLLATE "C" NOT NULL,
    destroyed_at text COLLATE "C",
    UNIQUE (tenant, project, "user", number)
);

-- One more with each change of what is known by `subject`, so that other programs notice it.
CREATE TABLE versions (
    subject text COLLATE "C" PRIMARY KEY,
    number bigint NOT NULL
);

-- Keys are of users, and are looked for by their ids alone.
ALTER TABLE data_keys ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY of_all ON data_keys USING ((SELECT current_setting('mnemoir.all', true) = 'on'));
