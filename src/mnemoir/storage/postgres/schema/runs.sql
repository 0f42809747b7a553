-- The last runs.
--
-- `number` is the order in which runs began, whatever the clock said; `written_at` is seconds since 1970, for the age.
-- Short figures of a run stand beside its trace, so that a list of runs reads no prompts. There are no further indexes:
-- rows come and go with every request, and few questions over a thousand of them can do without.

CREATE TABLE runs (
    number bigint PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    written_at double precision NOT NULL,
    started_at text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL CHECK (status IN ('running', 'finished', 'failed', 'cancelled')),
    question text COLLATE "C" NOT NULL,
    "user" text COLLATE "C" NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    project text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    conversation text COLLATE "C",
    model text COLLATE "C" NOT NULL,
    stream bigint NOT NULL,
    workflow text COLLATE "C" NOT NULL,
    category text COLLATE "C",
    first_token_ms double precision,
    duration_ms double precision,
    nodes bigint NOT NULL,
    memories bigint NOT NULL,
    standing bigint NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    tokens_counted bigint NOT NULL,
    error text COLLATE "C",
    trace text COLLATE "C" NOT NULL
);

-- The tokens of each user's runs by day, which outlive the runs.
CREATE TABLE tokens (
    day text COLLATE "C" NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    project text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    PRIMARY KEY (day, tenant, project, user_id)
);

-- Runs hold words of users, and are asked for over all users alone.
ALTER TABLE runs ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY of_all ON runs USING ((SELECT current_setting('mnemoir.all', true) = 'on'));
ALTER TABLE tokens ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY of_all ON tokens USING ((SELECT current_setting('mnemoir.all', true) = 'on'));
