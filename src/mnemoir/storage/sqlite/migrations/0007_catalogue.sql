-- expand
-- The catalogue: what the file of conversations of each user held when it was looked at last. The files are the truth;
-- `stamp` tells whether one is still what it was. `place` names the user's folder, which goes by project and user.

CREATE TABLE catalogue (
    place TEXT PRIMARY KEY,
    stamp TEXT NOT NULL,
    messages INTEGER NOT NULL,
    embeddable INTEGER NOT NULL,
    embedded INTEGER NOT NULL
) STRICT;

CREATE TABLE catalogued_conversations (
    place TEXT NOT NULL REFERENCES catalogue (place) ON DELETE CASCADE,
    digest BLOB NOT NULL,  -- of the conversation's id, which may be words of its user
    used_at TEXT NOT NULL,
    PRIMARY KEY (place, digest)
) STRICT, WITHOUT ROWID;

CREATE INDEX conversations_by_digest ON catalogued_conversations (digest);
CREATE INDEX conversations_by_use ON catalogued_conversations (used_at);

-- Whose memories an agent or an app has.
CREATE INDEX memories_by_agent ON memories (agent, scope_id) WHERE agent IS NOT NULL AND valid_to IS NULL;
CREATE INDEX memories_by_app ON memories (app, scope_id) WHERE app IS NOT NULL AND valid_to IS NULL;
