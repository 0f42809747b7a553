-- Who may call the server, and what was done with it. Times are text in UTC, `projects` and `configs` JSON lists, NULL
-- for all. What is secret is stored as a hash: of keys and recovery codes by HMAC, of passwords by argon2, of all other
-- tokens by SHA-256.

-- `retention` is for how many days a tenant keeps things, a JSON object; NULL for what the settings say.
CREATE TABLE tenants (
    name text COLLATE "C" PRIMARY KEY,
    suspended_at text COLLATE "C",
    created_at text COLLATE "C" NOT NULL,
    retention text COLLATE "C"
);

CREATE TABLE api_keys (
    id text COLLATE "C" PRIMARY KEY,
    hash bytea NOT NULL,
    tenant text COLLATE "C" NOT NULL REFERENCES tenants (name),
    projects text COLLATE "C",
    "user" text COLLATE "C",
    role text COLLATE "C" NOT NULL CHECK (role IN ('read', 'write', 'admin', 'operator')),
    label text COLLATE "C" NOT NULL,
    created_at text COLLATE "C" NOT NULL,
    created_by text COLLATE "C" NOT NULL,
    expires_at text COLLATE "C",
    revoked_at text COLLATE "C",
    replaced_by text COLLATE "C",
    last_used_at text COLLATE "C",
    configs text COLLATE "C"
);

CREATE INDEX api_keys_of_tenant ON api_keys (tenant, created_at, id);

-- What is decided for the whole server.
CREATE TABLE access (
    name text COLLATE "C" PRIMARY KEY,
    value text COLLATE "C" NOT NULL
);

-- Quotas that one tenant, or one key, has in place of those of the settings; `limits` is a JSON object.
CREATE TABLE limits (
    kind text COLLATE "C" NOT NULL CHECK (kind IN ('tenant', 'key')),
    name text COLLATE "C" NOT NULL,
    limits text COLLATE "C" NOT NULL,
    PRIMARY KEY (kind, name)
);

-- People who sign in, by `called`: the name as it is compared.
CREATE TABLE users (
    id text COLLATE "C" PRIMARY KEY,
    name text COLLATE "C" NOT NULL,
    called text COLLATE "C" NOT NULL UNIQUE,
    tenant text COLLATE "C" NOT NULL REFERENCES tenants (name),
    role text COLLATE "C" NOT NULL CHECK (role IN ('read', 'write', 'admin', 'operator')),
    is_operator bigint NOT NULL,
    memory_user text COLLATE "C" NOT NULL,
    projects text COLLATE "C",
    configs text COLLATE "C",
    password text COLLATE "C",
    created_at text COLLATE "C" NOT NULL,
    created_by text COLLATE "C" NOT NULL,
    disabled_at text COLLATE "C",
    last_seen_at text COLLATE "C",
    time_zone text COLLATE "C"
);

CREATE INDEX users_of_tenant ON users (tenant, created_at, id);

-- `only_new`: nothing may be there of its memory user, and with the role admin of its tenant, when somebody joins.
CREATE TABLE invitations (
    id text COLLATE "C" PRIMARY KEY,
    hash bytea NOT NULL UNIQUE,
    tenant text COLLATE "C" NOT NULL,
    role text COLLATE "C" NOT NULL CHECK (role IN ('read', 'write', 'admin', 'operator')),
    is_operator bigint NOT NULL,
    memory_user text COLLATE "C",
    projects text COLLATE "C",
    configs text COLLATE "C",
    name text COLLATE "C",
    resets text COLLATE "C" REFERENCES users (id),
    created_at text COLLATE "C" NOT NULL,
    created_by text COLLATE "C" NOT NULL,
    expires_at text COLLATE "C" NOT NULL,
    only_new bigint NOT NULL
);

-- `confirmed_at` is when whoever has a session last showed who they are.
CREATE TABLE user_sessions (
    id text COLLATE "C" PRIMARY KEY,
    hash bytea NOT NULL UNIQUE,
    "user" text COLLATE "C" NOT NULL REFERENCES users (id),
    created_at text COLLATE "C" NOT NULL,
    last_seen_at text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    address text COLLATE "C" NOT NULL,
    confirmed_at text COLLATE "C" NOT NULL
);

CREATE INDEX sessions_of_user ON user_sessions ("user", created_at);

CREATE TABLE recovery_codes (
    "user" text COLLATE "C" NOT NULL REFERENCES users (id),
    hash bytea NOT NULL,
    PRIMARY KEY ("user", hash)
);

CREATE TABLE passkeys (
    id text COLLATE "C" PRIMARY KEY,
    "user" text COLLATE "C" NOT NULL REFERENCES users (id),
    credential bytea NOT NULL UNIQUE,
    public_key bytea NOT NULL,
    sign_count bigint NOT NULL,
    label text COLLATE "C" NOT NULL,
    created_at text COLLATE "C" NOT NULL,
    last_used_at text COLLATE "C"
);

CREATE INDEX passkeys_of_user ON passkeys ("user", created_at);

-- What an authenticator was asked to sign; `purpose` says for what it counts, once.
CREATE TABLE challenges (
    hash bytea PRIMARY KEY,
    challenge bytea NOT NULL,
    purpose text COLLATE "C" NOT NULL,
    expires_at text COLLATE "C" NOT NULL
);

-- People who sign in with an identity provider, by its name and its own id of them.
CREATE TABLE identities (
    issuer text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    "user" text COLLATE "C" NOT NULL REFERENCES users (id),
    created_at text COLLATE "C" NOT NULL,
    PRIMARY KEY (issuer, subject)
);

CREATE INDEX identities_of_user ON identities ("user");

-- Such sign-ins under way. `hash` is of the token in the browser's cookie, `provider` the id in the settings. `code` is
-- there once the browser came back; the row goes when it is redeemed. `invitation` is the hash of the token of the
-- invitation that it is to use.
CREATE TABLE sign_ins (
    hash bytea PRIMARY KEY,
    state text COLLATE "C" NOT NULL,
    provider text COLLATE "C" NOT NULL,
    nonce text COLLATE "C" NOT NULL,
    verifier text COLLATE "C" NOT NULL,
    redirect_uri text COLLATE "C" NOT NULL,
    leads_to text COLLATE "C" NOT NULL,
    code text COLLATE "C",
    expires_at text COLLATE "C" NOT NULL,
    invitation bytea
);

-- The audit log: what was done with keys, settings and all of a user's data, by whom, without any words of it. `chain`
-- is an HMAC over the row and the chain of the row before. A row with `of` is the result of that act.
--
-- So that a person can be erased from it, `target`, `user` and `address` stand beside what the chain is over: `names` is
-- a keyed digest of them, `subject` one of tenant and user, NULL for an entry about nobody. An erased entry has '' for
-- the three, and both digests.
CREATE TABLE audit (
    number bigint PRIMARY KEY,
    at text COLLATE "C" NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    actor text COLLATE "C" NOT NULL,
    action text COLLATE "C" NOT NULL,
    target text COLLATE "C" NOT NULL,
    result text COLLATE "C" NOT NULL,
    request_id text COLLATE "C" NOT NULL,
    address text COLLATE "C" NOT NULL,
    of bigint,
    count bigint NOT NULL,
    chain bytea NOT NULL,
    "user" text COLLATE "C" NOT NULL,
    names bytea NOT NULL,
    subject bytea
);

CREATE INDEX audit_of_tenant ON audit (tenant, number);
CREATE INDEX audit_results ON audit (of) WHERE of IS NOT NULL;
CREATE INDEX audit_of_subject ON audit (subject, number) WHERE subject IS NOT NULL;

-- The data directory that the database belongs to, as in that of memories, which may be the same. `owner` is
-- whose it is, by the names of its folders; empty for a file that is nobody's.
CREATE TABLE IF NOT EXISTS identity (
    one bigint PRIMARY KEY CHECK (one = 1),
    directory text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL
);
