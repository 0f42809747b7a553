-- expand
-- The audit log: what was done with keys, settings and all of a user's data, by whom, without any words of it. `chain`
-- is an HMAC over the row and the chain of the row before. A row with `of` is the result of that act.

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
    chain BLOB NOT NULL
) STRICT;

CREATE INDEX audit_of_tenant ON audit (tenant, number);
CREATE INDEX audit_results ON audit (of) WHERE of IS NOT NULL;
