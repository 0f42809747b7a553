-- expand
-- Who may call the server: tenants, and keys by their hash. `projects` is a JSON list, NULL for all; times are text in
-- UTC. `access` holds what is decided for the whole server.

CREATE TABLE tenants (
    name TEXT PRIMARY KEY,
    suspended_at TEXT,
    created_at TEXT NOT NULL
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
    last_used_at TEXT
) STRICT;

CREATE INDEX api_keys_of_tenant ON api_keys (tenant, created_at, id);

CREATE TABLE access (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;
