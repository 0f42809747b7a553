-- expand
-- `invitation` is that which a sign-in with an identity provider is to use: the hash of its token. `confirmed_at` is when
-- whoever has a session showed again who they are; NULL for never since they signed in. `retention` is for how many days
-- a tenant keeps things, a JSON object; NULL for what the settings say.

ALTER TABLE sign_ins ADD COLUMN invitation BLOB;
ALTER TABLE sessions ADD COLUMN confirmed_at TEXT;
ALTER TABLE tenants ADD COLUMN retention TEXT;
