-- expand
-- Users whose data must stay, in all projects of their tenant, until the hold is lifted.

CREATE TABLE holds (
    tenant TEXT NOT NULL,
    user TEXT NOT NULL,
    reason TEXT NOT NULL,
    set_at TEXT NOT NULL,
    set_by TEXT NOT NULL,
    PRIMARY KEY (tenant, user)
) STRICT, WITHOUT ROWID;
