-- expand
-- People who sign in with an identity provider, by its name and its own id of them; and the sign-ins under way.

CREATE TABLE identities (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    user TEXT NOT NULL REFERENCES users (id),
    created_at TEXT NOT NULL,
    PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;

CREATE INDEX identities_of_user ON identities (user);

-- `hash` is of the token in the browser's cookie, `provider` the id in the settings. `code` is there once the browser
-- came back; the row goes when it is redeemed.
CREATE TABLE sign_ins (
    state TEXT PRIMARY KEY,
    hash BLOB NOT NULL,
    provider TEXT NOT NULL,
    nonce TEXT NOT NULL,
    verifier TEXT NOT NULL,
    redirect_uri TEXT NOT NULL,
    leads_to TEXT NOT NULL,
    code TEXT,
    expires_at TEXT NOT NULL
) STRICT;
