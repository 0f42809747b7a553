-- text: extraction_prompt, pii_facts, pii_messages, pii_models, project, review, tenant, time_zone
-- integer: deleted_days, history_days, memories_days, memory_enabled, search_limit
-- real: decay_days

-- name: load_settings
-- The settings of a project; at most one row, by the primary key.
SELECT memory_enabled, decay_days, search_limit, extraction_prompt, review, pii_facts, pii_messages, pii_models,
       memories_days, history_days, deleted_days, time_zone
  FROM project_settings
 WHERE tenant = :tenant AND project = :project;

-- name: save_settings
-- Replace the settings of a project.
INSERT INTO project_settings
    (tenant, project, memory_enabled, decay_days, search_limit, extraction_prompt, review, pii_facts,
     pii_messages, pii_models, memories_days, history_days, deleted_days, time_zone)
VALUES (:tenant, :project, :memory_enabled, :decay_days, :search_limit, :extraction_prompt, :review, :pii_facts,
        :pii_messages, :pii_models, :memories_days, :history_days, :deleted_days, :time_zone)
ON CONFLICT (tenant, project) DO UPDATE
    SET memory_enabled = excluded.memory_enabled, decay_days = excluded.decay_days,
        search_limit = excluded.search_limit, extraction_prompt = excluded.extraction_prompt, review = excluded.review,
        pii_facts = excluded.pii_facts, pii_messages = excluded.pii_messages, pii_models = excluded.pii_models,
        memories_days = excluded.memories_days, history_days = excluded.history_days,
        deleted_days = excluded.deleted_days, time_zone = excluded.time_zone;
