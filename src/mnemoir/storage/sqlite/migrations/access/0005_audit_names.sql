-- expand
-- Whom an entry of the audit log is about, so that a person can be erased from it. `target`, `user` and `address` stand
-- beside what the chain is over: `names` is a keyed digest of them, `subject` one of tenant and user. An erased entry
-- has '' for the three, and both digests. In entries of before this step they are NULL, and the chain is over the names.

ALTER TABLE audit ADD COLUMN user TEXT NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN names BLOB;
ALTER TABLE audit ADD COLUMN subject BLOB;

CREATE INDEX audit_of_subject ON audit (subject, number) WHERE subject IS NOT NULL;
