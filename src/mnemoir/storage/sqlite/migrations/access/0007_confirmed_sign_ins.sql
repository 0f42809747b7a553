-- expand
-- The invitation that a sign-in with an identity provider is to use: the hash of its token.

ALTER TABLE sign_ins ADD COLUMN invitation BLOB;
