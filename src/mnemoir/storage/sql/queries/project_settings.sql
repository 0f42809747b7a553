-- name: load_settings
-- The settings of a project; at most one row, by the primary key.
SELECT memory_enabled, decay_days, search_limit, extraction_prompt, review, pii_facts, pii_messages, pii_models,
       memories_days, history_days, deleted_days, time_zone
  FROM project_settings
 WHERE tenant = :tenant AND project = :project;

-- name: save_settings
-- Replace the settings of a project.
INSERT OR REPLACE INTO project_settings
    (tenant, project, memory_enabled, decay_days, search_limit, extraction_prompt, review, pii_facts,
     pii_messages, pii_models, memories_days, history_days, deleted_days, time_zone)
VALUES (:tenant, :project, :memory_enabled, :decay_days, :search_limit, :extraction_prompt, :review, :pii_facts,
        :pii_messages, :pii_models, :memories_days, :history_days, :deleted_days, :time_zone);
