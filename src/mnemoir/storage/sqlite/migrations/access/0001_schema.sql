-- expand
-- Who may call the server, and what was done with it. Times are text in UTC, `projects` and `configs` JSON lists, NULL
-- for all. What is secret is stored as a hash: of keys and recovery codes by HMAC, of passwords by argon2, of all other
-- tokens by SHA-256.

-- `retention` is for how many days a tenant keeps things, a JSON object; NULL for what the settings say.
CREATE TABLE tenants (
    name TEXT PRIMARY KEY,
    suspended_at TEXT,
    created_at TEXT NOT NULL,
    retention TEXT
) STRICT;

CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    hash BLOB NOT NULL,
    tenant TEXT NOT NULL REFERENCES tenants (name),
    projects TEXT,
    user TEXT,
    role TEXT NOT NULL CHECK (role IN ('read', 'write', 'admin', 'operator')),
    label TEXT NOT NULL,
    created_at TEXT NOT NULL,
    created_by TEXT NOT NULL,
    expires_at TEXT,
    revoked_at TEXT,
    replaced_by TEXT,
    last_used_at TEXT,
    configs TEXT
) STRICT;

CREATE INDEX api_keys_of_tenant ON api_keys (tenant, created_at, id);

-- What is decided for the whole server.
CREATE TABLE access (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

-- Quotas that one tenant, or one key, has in place of those of the settings; `limits` is a JSON object.
CREATE TABLE limits (
    kind TEXT NOT NULL CHECK (kind IN ('tenant', 'key')),
    name TEXT NOT NULL,
    limits TEXT NOT NULL,
    PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;

-- People who sign in, by `called`: the name as it is compared.
CREATE TABLE users (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    called TEXT NOT NULL UNIQUE,
    tenant TEXT NOT NULL REFERENCES tenants (name),
    role TEXT NOT NULL CHECK (role IN ('read', 'write', 'admin', 'operator')),
    is_operator INTEGER NOT NULL,
    memory_user TEXT NOT NULL,
    projects TEXT,
    configs TEXT,
    password TEXT,
    created_at TEXT NOT NULL,
    created_by TEXT NOT NULL,
    disabled_at TEXT,
    last_seen_at TEXT,
    time_zone TEXT
) STRICT;

CREATE INDEX users_of_tenant ON users (tenant, created_at, id);

-- `only_new`: nothing may be there of its memory user, and with the role admin of its tenant, when somebody joins.
CREATE TABLE invitations (
    id TEXT PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    tenant TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('read', 'write', 'admin', 'operator')),
    is_operator INTEGER NOT NULL,
    memory_user TEXT,
    projects TEXT,
    configs TEXT,
    name TEXT,
    resets TEXT REFERENCES users (id),
    created_at TEXT NOT NULL,
    created_by TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    only_new INTEGER NOT NULL
) STRICT;

-- `confirmed_at` is when whoever has a session last showed who they are.
CREATE TABLE user_sessions (
    id TEXT PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    user TEXT NOT NULL REFERENCES users (id),
    created_at TEXT NOT NULL,
    last_seen_at TEXT NOT NULL,
    agent TEXT NOT NULL,
    address TEXT NOT NULL,
    confirmed_at TEXT NOT NULL
) STRICT;

CREATE INDEX sessions_of_user ON user_sessions (user, created_at);

CREATE TABLE recovery_codes (
    user TEXT NOT NULL REFERENCES users (id),
    hash BLOB NOT NULL,
    PRIMARY KEY (user, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE passkeys (
    id TEXT PRIMARY KEY,
    user TEXT NOT NULL REFERENCES users (id),
    credential BLOB NOT NULL UNIQUE,
    public_key BLOB NOT NULL,
    sign_count INTEGER NOT NULL,
    label TEXT NOT NULL,
    created_at TEXT NOT NULL,
    last_used_at TEXT
) STRICT;

CREATE INDEX passkeys_of_user ON passkeys (user, created_at);

-- What an authenticator was asked to sign; `purpose` says for what it counts, once.
CREATE TABLE challenges (
    hash BLOB PRIMARY KEY,
    challenge BLOB NOT NULL,
    purpose TEXT NOT NULL,
    expires_at TEXT NOT NULL
) STRICT;

-- People who sign in with an identity provider, by its name and its own id of them.
CREATE TABLE identities (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    user TEXT NOT NULL REFERENCES users (id),
    created_at TEXT NOT NULL,
    PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;

CREATE INDEX identities_of_user ON identities (user);

-- Such sign-ins under way. `hash` is of the token in the browser's cookie, `provider` the id in the settings. `code` is
-- there once the browser came back; the row goes when it is redeemed. `invitation` is the hash of the token of the
-- invitation that it is to use.
CREATE TABLE sign_ins (
    hash BLOB PRIMARY KEY,
    state TEXT NOT NULL,
    provider TEXT NOT NULL,
    nonce TEXT NOT NULL,
    verifier TEXT NOT NULL,
    redirect_uri TEXT NOT NULL,
    leads_to TEXT NOT NULL,
    code TEXT,
    expires_at TEXT NOT NULL,
    invitation BLOB
) STRICT;

-- The audit log: what was done with keys, settings and all of a user's data, by whom, without any words of it. `chain`
-- is an HMAC over the row and the chain of the row before. A row with `of` is the result of that act.
--
-- So that a person can be erased from it, `target`, `user` and `address` stand beside what the chain is over: `names` is
-- a keyed digest of them, `subject` one of tenant and user, NULL for an entry about nobody. An erased entry has '' for
-- the three, and both digests.
CREATE TABLE audit (
    number INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    tenant TEXT NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    result TEXT NOT NULL,
    request_id TEXT NOT NULL,
    address TEXT NOT NULL,
    of INTEGER,
    count INTEGER NOT NULL,
    chain BLOB NOT NULL,
    user TEXT NOT NULL,
    names BLOB NOT NULL,
    subject BLOB
) STRICT;

CREATE INDEX audit_of_tenant ON audit (tenant, number);
CREATE INDEX audit_results ON audit (of) WHERE of IS NOT NULL;
CREATE INDEX audit_of_subject ON audit (subject, number) WHERE subject IS NOT NULL;

-- The data directory that the file belongs to, by the id in its `identity.json`; no row in a file of none. `owner` is
-- whose it is, by the names of its folders; empty for a file that is nobody's.
CREATE TABLE identity (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    directory TEXT NOT NULL,
    owner TEXT NOT NULL
) STRICT;
