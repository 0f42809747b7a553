-- part: in_session
messages.scope_id = :scope_id AND messages.session_id = :session

-- part: on_thread
messages.scope_id = :scope_id AND messages.session_id = :session AND messages.off_thread IS NULL

-- part: message
messages.id, {bytes messages.session_id} AS session, {bytes messages.role} AS role, {cell messages.content},
       {cell messages.tool_calls}, {bytes messages.tool_call_id} AS tool_call_id, {cell messages.name},
       {bytes messages.created_at} AS at, messages.parent_id, {bytes messages.turn_id} AS turn_id,
       messages.token_count, messages.importance, messages.pinned, {cell messages.files},
       {bytes messages.run_id} AS run_id, {bytes messages.finish_reason} AS finish_reason, messages.off_thread,
       {bytes messages.uid} AS uid

-- part: cost
(coalesce(length(content), 0) + coalesce(length(tool_calls), 0)) / 4
       + 85 * coalesce(CASE WHEN json_valid(files) THEN json_array_length(files) END, 0)

-- postgres: cost
(coalesce(length(content), 0) + coalesce(length(tool_calls), 0)) / 4
       + 85 * CASE WHEN files LIKE '[%]' THEN jsonb_array_length(files::jsonb) ELSE 0 END

-- part: size
coalesce(octet_length(content), 0) + coalesce(octet_length(tool_calls), 0) + coalesce(octet_length(files), 0)
