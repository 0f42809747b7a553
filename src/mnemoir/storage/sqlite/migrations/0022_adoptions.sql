-- expand
-- Projects that are being given from one user to another one, and are hidden from both until all of it is given.

CREATE TABLE adoptions (
    tenant TEXT NOT NULL,
    project TEXT NOT NULL,
    user TEXT NOT NULL,
    new_user TEXT NOT NULL,
    PRIMARY KEY (tenant, project, user)
) STRICT, WITHOUT ROWID;
