-- text: about, kind, original, session_id
-- integer: number
-- bytes: hash

-- name: number_of_value
-- The number of a value of the scope; by the primary key.
SELECT number FROM pii_values WHERE scope_id = :scope_id AND kind = :kind AND hash = :hash LIMIT 1;

-- name: last_number
-- The highest number of a kind; 0 without any; by index pii_values_by_number.
SELECT coalesce(max(number), 0) FROM pii_values WHERE scope_id = :scope_id AND kind = :kind;

-- name: put_value
-- Note that a value was said in a conversation. A value that is noted already may become one that can be turned back.
INSERT INTO pii_values (scope_id, kind, hash, about, session_id, number, original)
VALUES (:scope_id, :kind, :hash, :about, :session_id, :number, :original)
ON CONFLICT (scope_id, kind, hash, about, session_id) DO UPDATE
    SET original = coalesce(pii_values.original, excluded.original);

-- name: is_noted
-- 1 when the value is noted for the conversation; by the primary key.
SELECT 1 FROM pii_values
 WHERE scope_id = :scope_id AND kind = :kind AND hash = :hash AND about = :about AND session_id = :session_id;

-- name: originals
-- Kind, number and value of all that can be turned back; by index pii_values_by_number.
SELECT kind, number, original, kind || ' ' || number AS label
  FROM pii_values WHERE scope_id = :scope_id AND original IS NOT NULL;

-- name: forget_values_of
-- Delete what was said in a conversation; by index pii_values_by_session.
DELETE FROM pii_values WHERE scope_id = :scope_id AND session_id = :session_id;

-- name: forget_values_in_facts
-- Delete what stands in facts of the scope, and what was said in no conversation; by the primary key.
DELETE FROM pii_values WHERE scope_id = :scope_id AND (about = 'facts' OR session_id = '');

-- name: forget_unplaced
-- Delete a value of messages that was noted for no conversation; by the primary key.
DELETE FROM pii_values
 WHERE scope_id = :scope_id AND kind = :kind AND hash = :hash AND about = 'messages' AND session_id = '';

-- name: values_of_messages
-- What stands in messages, with what each value is bound to; by the primary key.
SELECT kind, hash, about, session_id, number, original, kind || ' ' || number AS label
  FROM pii_values
 WHERE scope_id = :scope_id AND about = 'messages';
