-- expand
-- For encryption: the key that digests are made with, NULL for bare ones, and the key that all cells are known to be
-- encrypted with; 0 when all are plain, NULL when nobody has looked.
--
-- What a message costs in a window gets a column, as an encrypted text tells nothing. It is NULL for messages of before
-- and of other programs.

ALTER TABLE messages ADD COLUMN estimate INTEGER;
CREATE TABLE sealing (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    hashed_by INTEGER,
    sealed_by INTEGER
);
INSERT INTO sealing (one, hashed_by, sealed_by) VALUES (1, NULL, 0);
