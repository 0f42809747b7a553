-- expand
-- People who sign in, by `called`: the name as it is compared. What is secret is stored as a hash: of a password by
-- argon2, of the tokens of invitations and sessions by SHA-256, of recovery codes by HMAC. Times are text in UTC,
-- `projects` and `configs` JSON lists, NULL for all.

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
    last_seen_at TEXT
) STRICT;

CREATE INDEX users_of_tenant ON users (tenant, created_at, id);

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
    used_at TEXT
) STRICT;

CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    user TEXT NOT NULL REFERENCES users (id),
    created_at TEXT NOT NULL,
    last_seen_at TEXT NOT NULL,
    agent TEXT NOT NULL,
    address TEXT NOT NULL
) STRICT;

CREATE INDEX sessions_of_user ON sessions (user, created_at);

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
    id TEXT PRIMARY KEY,
    challenge BLOB NOT NULL,
    purpose TEXT NOT NULL,
    expires_at TEXT NOT NULL
) STRICT;

ALTER TABLE api_keys ADD COLUMN configs TEXT;
