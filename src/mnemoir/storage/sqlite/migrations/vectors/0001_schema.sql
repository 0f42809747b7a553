-- expand
-- Vectors of texts. `change` numbers the writes. Vectors are float32 of unit length, or zero; metadata are JSON.

CREATE TABLE vectors (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    change INTEGER NOT NULL,
    vector BLOB NOT NULL,
    document TEXT NOT NULL,
    metadata TEXT NOT NULL,
    token_ids BLOB,
    token_codes BLOB
) STRICT;
CREATE INDEX vectors_by_change ON vectors (change);
CREATE TABLE state (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    epoch TEXT NOT NULL,
    changes INTEGER NOT NULL,
    removals INTEGER NOT NULL,
    dimension INTEGER,
    model TEXT
) STRICT;
INSERT INTO state (one, epoch, changes, removals) VALUES (1, lower(hex(randomblob(16))), 0, 0);

-- Vectors of a second model for some of the texts, float16 of unit length. They go when their text does, whoever deletes
-- it. That model has looked at all writes up to `seen`.
CREATE TABLE second_vectors (row INTEGER PRIMARY KEY, vector BLOB NOT NULL) STRICT;
CREATE TABLE second_state (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    model TEXT NOT NULL,
    epoch TEXT NOT NULL,
    seen INTEGER NOT NULL
) STRICT;
CREATE TRIGGER second_of_deleted AFTER DELETE ON vectors
BEGIN
    DELETE FROM second_vectors WHERE row = old.row;
END;
-- An encrypted document is another one each time it is written; it is written anew with its former `change`.
CREATE TRIGGER second_of_changed AFTER UPDATE OF document ON vectors
 WHEN new.document <> old.document AND new.change <> old.change
BEGIN
    DELETE FROM second_vectors WHERE row = new.row;
END;

-- For encryption: the key that all cells are known to be encrypted with; 0 when all are plain, NULL when nobody has
-- looked.
CREATE TABLE sealing (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    hashed_by INTEGER,
    sealed_by INTEGER
) STRICT;
INSERT INTO sealing (one, hashed_by, sealed_by) VALUES (1, NULL, 0);
