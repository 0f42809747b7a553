-- expand
-- Which commit an event belongs to, and which commit that one undid; so a commit can be listed and undone. An event of
-- a program that does not know these columns is a commit of its own; '' is one with erased words, which is not listed.
-- `left_hash` is a hash of the memory after the event, to tell whether it was changed since. `state` is from now on
-- what a memory was before an UPDATE, too.

ALTER TABLE history ADD COLUMN change_id TEXT;
ALTER TABLE history ADD COLUMN undo_of TEXT;
ALTER TABLE history ADD COLUMN left_hash BLOB;

CREATE INDEX history_of_scope ON history (scope_id); -- in order of number
CREATE INDEX history_of_change ON history (change_id, scope_id) WHERE change_id IS NOT NULL;
CREATE INDEX history_of_undos ON history (scope_id) WHERE undo_of IS NOT NULL;
