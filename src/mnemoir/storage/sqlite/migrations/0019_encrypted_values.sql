-- expand
-- For encryption: what a value behind a placeholder is bound to. A value has one number, and a row for each place that
-- it was said in.

ALTER TABLE pii_values ADD COLUMN label TEXT GENERATED ALWAYS AS (kind || ' ' || number) VIRTUAL;
