-- expand
-- What a removed memory was besides its text, as JSON, so that it can be taken back; with the event that removed it.

ALTER TABLE history ADD COLUMN state TEXT;
