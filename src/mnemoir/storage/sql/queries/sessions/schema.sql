-- sqlite alone: of the file alone

-- name: tables_of
-- The names of the file's tables.
SELECT name FROM sqlite_schema WHERE type = 'table';

-- name: columns_of
-- The names of a table's columns.
SELECT name FROM pragma_table_info(:table);

-- name: views
-- Rows as they are read. Texts come as bytes: one that is not UTF-8 then costs itself and not the whole answer.
CREATE TEMP VIEW message_rows AS
SELECT id, CAST(session_id AS BLOB) AS session, CAST(role AS BLOB) AS role, CAST(content AS BLOB) AS content,
       CAST(tool_calls AS BLOB) AS tool_calls, CAST(tool_call_id AS BLOB) AS tool_call_id,
       CAST(name AS BLOB) AS name, CAST(created_at AS BLOB) AS at, parent_id, CAST(turn_id AS BLOB) AS turn_id,
       token_count, importance, pinned, CAST(files AS BLOB) AS files, CAST(run_id AS BLOB) AS run_id,
       CAST(finish_reason AS BLOB) AS finish_reason, off_thread, CAST(uid AS BLOB) AS uid, session_id, created_at
  FROM main.messages;
CREATE TEMP VIEW session_rows AS
SELECT CAST(id AS BLOB) AS session, CAST(created_at AS BLOB) AS at, CAST(updated_at AS BLOB) AS used_at,
       CAST(system_prompt AS BLOB) AS system_prompt, CAST(metadata AS BLOB) AS metadata,
       nullif(coalesce(context_moved, context_after), 0) AS context_after,
       (SELECT messages.id FROM main.messages WHERE session_id = sessions.id AND off_thread IS NULL
         ORDER BY messages.created_at DESC, messages.id DESC LIMIT 1) AS head, id, updated_at
  FROM main.sessions;

-- name: start_ids
-- Let message ids begin above a number.
INSERT INTO sqlite_sequence (name, seq) VALUES ('messages', :last);
