-- text: code, now, state
-- bytes: hash

-- name: answer
-- Note the code with which a browser came back, once.
UPDATE sign_ins SET code = :code WHERE state = :state AND hash = :hash AND expires_at > :now AND code IS NULL;
