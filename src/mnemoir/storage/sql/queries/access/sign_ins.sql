-- text: code, expires_at, leads_to, nonce, now, provider, redirect_uri, state, verifier
-- integer: most
-- bytes: hash, invitation

-- name: begin
-- Store a sign-in under way.
INSERT INTO sign_ins (state, hash, provider, nonce, verifier, redirect_uri, leads_to, invitation, expires_at)
VALUES (:state, :hash, :provider, :nonce, :verifier, :redirect_uri, :leads_to, :invitation, :expires_at);

-- name: drop_old
-- Remove the sign-ins that ended, and of too many the oldest.
DELETE FROM sign_ins
 WHERE expires_at <= :now
    OR state IN (SELECT state FROM sign_ins ORDER BY expires_at DESC LIMIT 9223372036854775807 OFFSET :most);

-- name: open
-- The sign-in of that state and browser, if it goes on; at most one row, by the primary key.
SELECT state, provider, nonce, verifier, redirect_uri, leads_to, invitation, code
  FROM sign_ins WHERE state = :state AND hash = :hash AND expires_at > :now;

-- name: answer
-- Note the code with which a browser came back, once.
UPDATE sign_ins SET code = :code WHERE state = :state AND hash = :hash AND expires_at > :now AND code IS NULL;

-- name: drop
-- Remove a sign-in of a browser.
DELETE FROM sign_ins WHERE state = :state AND hash = :hash;
