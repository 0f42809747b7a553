-- expand
-- For how many days a project keeps memories, their history, and what was deleted: 0 for ever, NULL for what its tenant
-- or the settings say.

ALTER TABLE project_settings ADD COLUMN memories_days INTEGER;
ALTER TABLE project_settings ADD COLUMN history_days INTEGER;
ALTER TABLE project_settings ADD COLUMN deleted_days INTEGER;
