-- expand
-- Memories with what belongs to them, what happened to them, background work and the settings of projects.
--
-- Times stand twice: as text, exactly as they came, and as seconds since 1970 for comparing; there NULL means that
-- the text is missing or no time. The key of every row of a user begins with the number of that user's scope.

-- A user of a project has a scope of memories, and one of conversations, which stay when all memories are forgotten at once.
--
-- `hashed_by` is the key that the digests of a scope are made with, NULL for bare ones; `sealed_by` the key that all of
-- its cells are known to be encrypted with, 0 when all are plain, NULL when nobody has looked. `spaces` are the further
-- ones in which all facts of the scope have vectors, a JSON array of names. `has_conversations` is 1 once there is a file
-- of conversations of the user, which must be there from then on. `language` is that of the user's last question of some length,
-- where several servers are to know it. What stands behind it counts the conversations of a scope, their messages, and the bytes of these as they are stored.
CREATE TABLE scopes (
    id INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    project TEXT NOT NULL,
    user TEXT NOT NULL,
    kind TEXT NOT NULL DEFAULT 'memories' CHECK (kind IN ('memories', 'conversations')),
    changes INTEGER NOT NULL DEFAULT 0,
    removals INTEGER NOT NULL DEFAULT 0,
    next_seq INTEGER NOT NULL DEFAULT 1,
    spaces TEXT NOT NULL DEFAULT '[]',
    hashed_by INTEGER,
    sealed_by INTEGER,
    has_conversations INTEGER NOT NULL DEFAULT 0,
    language TEXT NOT NULL DEFAULT '',
    conversations INTEGER NOT NULL DEFAULT 0,
    messages INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0,
    last_used TEXT,
    UNIQUE (tenant, project, user, kind)
) STRICT;

CREATE INDEX scopes_with_conversations ON scopes (tenant, project, user) WHERE has_conversations = 1;

-- A memory whose valid_to is NULL is current; the others are closed states, kept for looks into the past. Wide columns
-- stand behind the narrow ones, so that reading those of many rows leaves their overflow pages alone. `origin` says
-- where the words come from: NULL for a fact that was learned from what a user said, and for a message, whose role
-- tells it.
CREATE TABLE memories (
    scope_id INTEGER NOT NULL REFERENCES scopes (id),
    seq INTEGER NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('fact', 'message')),
    change INTEGER NOT NULL,
    agent TEXT,
    app TEXT,
    conversation TEXT,
    role TEXT,
    speaker TEXT,
    said_at REAL,
    effective_at REAL,
    expires_at REAL,
    valid_from REAL,
    valid_until REAL,
    content_hash BLOB NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT,
    expires_on TEXT,
    valid_to TEXT,
    replaced_by TEXT,
    text TEXT NOT NULL,
    metadata TEXT,
    extra TEXT,
    origin TEXT,
    PRIMARY KEY (scope_id, seq),
    UNIQUE (id, scope_id)
) STRICT;

CREATE UNIQUE INDEX one_current_fact_of_a_text
    ON memories (scope_id, content_hash, coalesce(agent, ''), coalesce(app, ''), coalesce(conversation, ''))
    WHERE kind = 'fact' AND valid_to IS NULL;
CREATE INDEX memories_by_age ON memories (scope_id, said_at, id); -- closed states too, for looks into the past
CREATE INDEX memories_by_change ON memories (scope_id, change, seq) WHERE valid_to IS NULL;
CREATE INDEX closed_memories_by_change ON memories (scope_id, change, seq) WHERE valid_to IS NOT NULL;
CREATE INDEX messages_of_conversation
    ON memories (scope_id, conversation, seq) WHERE kind = 'message' AND valid_to IS NULL;
CREATE INDEX memories_by_successor ON memories (scope_id, replaced_by) WHERE replaced_by IS NOT NULL;
-- Whose memories an agent or an app has.
CREATE INDEX memories_by_agent ON memories (agent, scope_id) WHERE agent IS NOT NULL AND valid_to IS NULL;
CREATE INDEX memories_by_app ON memories (app, scope_id) WHERE app IS NOT NULL AND valid_to IS NULL;
-- `valid_to` stands in it so that it answers alone.
CREATE INDEX memories_by_creation ON memories (scope_id, said_at, valid_to) WHERE valid_to IS NULL;

-- Words, names and vectors of a memory, closed ones too, for searches of the past. `terms_by` names the rules that its
-- terms and names were made by; `names` is NULL for a memory without a name.
CREATE TABLE entries (
    scope_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    terms BLOB NOT NULL,
    model TEXT,
    vector BLOB,
    token_ids BLOB,
    terms_by TEXT,
    names BLOB,
    PRIMARY KEY (scope_id, seq),
    FOREIGN KEY (scope_id, seq) REFERENCES memories (scope_id, seq) ON DELETE CASCADE
) STRICT;

CREATE INDEX entries_by_model ON entries (model, scope_id, seq); -- what waits for a vector
CREATE INDEX entries_by_terms ON entries (terms_by, scope_id, seq); -- what waits for other terms

-- Vectors in further spaces, of the memories that need one there; `model` is NULL while it is to be made. With a rowid:
-- without one a search takes ten times as long. An encrypted vector is bound to seq, space and part.
CREATE TABLE vectors (
    number INTEGER PRIMARY KEY,
    scope_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    space TEXT NOT NULL,
    part INTEGER NOT NULL DEFAULT 0,
    model TEXT,
    vector BLOB,
    UNIQUE (scope_id, seq, space, part),
    FOREIGN KEY (scope_id, seq) REFERENCES memories (scope_id, seq) ON DELETE CASCADE
) STRICT;

CREATE INDEX vectors_by_model ON vectors (space, model, scope_id, seq); -- what waits for a vector

-- Apart from the vectors: they are the bulk, and read for a few hundred candidates at a time.
CREATE TABLE codes (
    scope_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    codes BLOB NOT NULL,
    PRIMARY KEY (scope_id, seq),
    FOREIGN KEY (scope_id, seq) REFERENCES memories (scope_id, seq) ON DELETE CASCADE
) STRICT;

-- What was said that memories were made of: the session it was said in, so that a conversation can be forgotten with all
-- that was derived from it, and the message that the turns end with, so that a conversation can tell below each of its
-- answers what was learned there; NULL for turns of no stored conversation.
CREATE TABLE sources (
    id INTEGER PRIMARY KEY,
    scope_id INTEGER NOT NULL REFERENCES scopes (id),
    turns TEXT NOT NULL,
    session TEXT,
    last_message TEXT
) STRICT;

CREATE INDEX sources_of_scope ON sources (scope_id);
CREATE INDEX sources_by_session ON sources (scope_id, session) WHERE session IS NOT NULL;
CREATE INDEX sources_by_last_message ON sources (scope_id, last_message) WHERE last_message IS NOT NULL;

-- An event outlives the memory it tells of. `state` is what the memory was besides its text before an UPDATE or DELETE,
-- as JSON. `change_id` names the commit that the event belongs to, `undo_of` the one that this undid, so that a commit
-- can be listed and undone; '' is a commit with erased words, which is not listed. `left_hash` is a hash of the memory
-- after the event, to tell whether it was changed since.
CREATE TABLE history (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    scope_id INTEGER NOT NULL REFERENCES scopes (id),
    memory_id TEXT NOT NULL,
    agent TEXT,
    app TEXT,
    conversation TEXT,
    event TEXT NOT NULL CHECK (event IN ('ADD', 'UPDATE', 'DELETE')),
    at TEXT NOT NULL,
    reason TEXT NOT NULL,
    model TEXT,
    source_id INTEGER REFERENCES sources (id),
    old_text TEXT,
    new_text TEXT,
    state TEXT,
    change_id TEXT NOT NULL,
    undo_of TEXT,
    left_hash BLOB
) STRICT;

CREATE INDEX history_of_scope ON history (scope_id); -- in order of number
CREATE INDEX history_of_memory ON history (scope_id, memory_id);
CREATE INDEX history_by_source ON history (scope_id, source_id) WHERE source_id IS NOT NULL;
CREATE INDEX history_of_change ON history (change_id, scope_id);
CREATE INDEX history_of_undos ON history (scope_id) WHERE undo_of IS NOT NULL;

-- What was answered under a key, to be answered again; also what the request proposed.
CREATE TABLE receipts (
    scope_id INTEGER NOT NULL REFERENCES scopes (id),
    key TEXT NOT NULL,
    request_hash TEXT NOT NULL,
    reason TEXT NOT NULL,
    given_at REAL NOT NULL,
    applied TEXT NOT NULL,
    proposed TEXT,
    PRIMARY KEY (scope_id, key)
) STRICT;

CREATE INDEX receipts_by_age ON receipts (given_at);

-- Changes of memories that wait for a person's approval. `state` is what a memory says besides its text.
CREATE TABLE proposals (
    scope_id INTEGER NOT NULL REFERENCES scopes (id),
    number INTEGER NOT NULL,
    id TEXT NOT NULL,
    event TEXT NOT NULL CHECK (event IN ('ADD', 'UPDATE', 'DELETE')),
    memory_id TEXT NOT NULL,
    agent TEXT,
    app TEXT,
    conversation TEXT,
    reason TEXT NOT NULL,
    proposed_at REAL NOT NULL,
    at TEXT,
    successor TEXT,
    model TEXT,
    session TEXT,
    source_id INTEGER,
    content_hash BLOB NOT NULL,
    text TEXT NOT NULL,
    previous_text TEXT,
    state TEXT NOT NULL,
    PRIMARY KEY (scope_id, number),
    UNIQUE (scope_id, id)
) STRICT;

CREATE INDEX proposals_by_id ON proposals (id, scope_id);
CREATE INDEX proposals_by_source ON proposals (scope_id, source_id) WHERE source_id IS NOT NULL;
CREATE INDEX proposals_by_age ON proposals (proposed_at, scope_id);

-- The numbers of the placeholders that stand for personal data, such as [EMAIL_1]. A value has one number for a user,
-- and a row for each conversation that it was said in, so that it goes with the last of them. `original` is the value,
-- where it may be turned back; encrypted, it is bound to kind and number.
CREATE TABLE pii_values (
    scope_id INTEGER NOT NULL REFERENCES scopes (id),
    kind TEXT NOT NULL,
    hash BLOB NOT NULL,
    about TEXT NOT NULL CHECK (about IN ('facts', 'messages')),
    session_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    original TEXT,
    PRIMARY KEY (scope_id, kind, hash, about, session_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX pii_values_by_number ON pii_values (scope_id, kind, number);
CREATE INDEX pii_values_by_session ON pii_values (scope_id, session_id);

-- What a person brought in from other programs. `change_id` is the commit that added memories. `round` counts how often
-- learning from it was begun, `turn_count` how many there are in all, `done` those that were looked into; the other numbers
-- are what came of them.
CREATE TABLE imports (
    scope_id INTEGER NOT NULL REFERENCES scopes (id),
    id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('conversations', 'memories')),
    program TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('stored', 'learning', 'stopped', 'learned', 'undoing', 'undone')),
    created_at TEXT NOT NULL,
    stored INTEGER NOT NULL,
    change_id TEXT,
    zone TEXT,
    round INTEGER NOT NULL DEFAULT 0,
    turn_count INTEGER NOT NULL DEFAULT 0,
    done INTEGER NOT NULL DEFAULT 0,
    learned INTEGER NOT NULL DEFAULT 0,
    to_review INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (scope_id, id)
) STRICT, WITHOUT ROWID;

-- The conversations of an import, with the numbers of the first and the last message that it stored in each. `learned_to`
-- is the tracker: the last message that was looked into. `left_state` is what an import left of a new one's title and
-- notes, as a digest, to tell whether they were changed since.
CREATE TABLE import_conversations (
    scope_id INTEGER NOT NULL REFERENCES scopes (id),
    id TEXT NOT NULL,
    import_id TEXT NOT NULL,
    conversation TEXT NOT NULL,
    is_new INTEGER NOT NULL,
    first_message INTEGER NOT NULL,
    last_message INTEGER NOT NULL,
    learned_to INTEGER NOT NULL DEFAULT 0,
    left_state TEXT NOT NULL,
    PRIMARY KEY (scope_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX import_conversations_of ON import_conversations (scope_id, import_id, id);
CREATE INDEX import_conversations_by_name ON import_conversations (scope_id, conversation);

-- A job that runs is leased to a worker until a time; `attempts` is the fence of the lease. A job that waits says what
-- for: a worker, its time, or its turn behind an earlier job of its queue. So only the heads of queues are claimable.
CREATE TABLE jobs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    queue TEXT NOT NULL,  -- jobs of one queue run one after the other; '' for none
    state TEXT NOT NULL CHECK (state IN ('PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED')),
    attempts INTEGER NOT NULL DEFAULT 0,
    due_at REAL NOT NULL,
    ended_at REAL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    error TEXT,
    payload TEXT NOT NULL,
    result TEXT,
    waits_for TEXT CHECK (waits_for IN ('worker', 'time', 'turn')),
    worker TEXT,
    lease_until REAL
) STRICT;

CREATE INDEX jobs_in_queue ON jobs (queue, number) WHERE ended_at IS NULL;
CREATE INDEX jobs_ended ON jobs (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX jobs_claimable ON jobs (waits_for, number) WHERE waits_for = 'worker';
CREATE INDEX jobs_put_back ON jobs (waits_for, due_at) WHERE waits_for = 'time';
CREATE INDEX jobs_leased ON jobs (state, lease_until) WHERE state = 'RUNNING';

-- NULL is what its tenant or the settings say. Days are for how many days a project keeps memories, their history, and
-- what was deleted; 0 for ever.
CREATE TABLE project_settings (
    tenant TEXT NOT NULL,
    project TEXT NOT NULL,
    memory_enabled INTEGER,
    decay_days REAL,
    search_limit INTEGER,
    extraction_prompt TEXT,
    review TEXT,
    pii_facts TEXT,
    pii_messages TEXT,
    pii_models TEXT,
    memories_days INTEGER,
    history_days INTEGER,
    deleted_days INTEGER,
    time_zone TEXT,
    PRIMARY KEY (tenant, project)
) STRICT;

-- Users whose data must stay, in all projects of their tenant, until the hold is lifted.
CREATE TABLE holds (
    tenant TEXT NOT NULL,
    user TEXT NOT NULL,
    reason TEXT NOT NULL,
    set_at TEXT NOT NULL,
    set_by TEXT NOT NULL,
    PRIMARY KEY (tenant, user)
) STRICT, WITHOUT ROWID;

-- Projects that are being given from one user to another one; what has been moved is hidden until all of it is given.
CREATE TABLE adoptions (
    tenant TEXT NOT NULL,
    project TEXT NOT NULL,
    user TEXT NOT NULL,
    new_user TEXT NOT NULL,
    PRIMARY KEY (tenant, project, user)
) STRICT, WITHOUT ROWID;

-- When the clock was last trusted, and when conversations were last pruned.
CREATE TABLE stamps (
    name TEXT PRIMARY KEY,
    at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Who was erased from this database, a line of `erased.jsonl` each; by them one of before is told from it.
CREATE TABLE tombstones (
    line TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- Tokens that models took for each user, by UTC day. What users store is counted where it is stored.
CREATE TABLE usage (
    tenant TEXT NOT NULL,
    user TEXT NOT NULL,
    what TEXT NOT NULL CHECK (what IN ('input_tokens', 'output_tokens')),
    day TEXT NOT NULL,
    amount INTEGER NOT NULL,
    PRIMARY KEY (tenant, user, what, day)
) STRICT, WITHOUT ROWID;

CREATE INDEX usage_by_day ON usage (day);

-- What the project-file backend derives from its files. The files are the truth, and all of this can be made again from
-- them; their history and receipts stand in the tables above.
CREATE TABLE file_projects (
    number INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    project TEXT NOT NULL,
    stamp TEXT,  -- of the file that file_index is in step with; NULL for no file
    UNIQUE (tenant, project)
) STRICT;

CREATE TABLE file_index (
    number INTEGER PRIMARY KEY,
    project_number INTEGER NOT NULL REFERENCES file_projects (number),
    user TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    text_hash BLOB NOT NULL,
    terms BLOB NOT NULL,
    model TEXT,
    vector BLOB,
    token_ids BLOB,
    token_codes BLOB,
    terms_by TEXT,
    names BLOB,
    said_at REAL,
    UNIQUE (project_number, user, memory_id)
) STRICT;

CREATE INDEX file_index_by_model ON file_index (model, number, project_number, user, memory_id);
CREATE INDEX file_index_by_age ON file_index (said_at);

-- The vectors of entries in further spaces, as in `vectors`.
CREATE TABLE file_vectors (
    number INTEGER PRIMARY KEY,
    entry INTEGER NOT NULL REFERENCES file_index (number) ON DELETE CASCADE,
    space TEXT NOT NULL,
    part INTEGER NOT NULL DEFAULT 0,
    model TEXT,
    vector BLOB,
    UNIQUE (entry, space, part)
) STRICT;

CREATE INDEX file_vectors_by_model ON file_vectors (space, model, entry);

-- Conversations and their messages, the log. Times are ISO 8601 texts of naive UTC. The tables and queries are those of a
-- file of conversations of one owner, too, which other programs may write.
CREATE TABLE sessions (
    scope_id INTEGER NOT NULL REFERENCES scopes (id),
    id TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    system_prompt TEXT NOT NULL,
    metadata TEXT NOT NULL,
    context_after INTEGER, -- windows begin after this message
    summary_claim TEXT, -- who makes the summary now
    summary_claim_until REAL, -- and until when, in seconds since 1970
    context_moved INTEGER, -- counts in place of a context_after that is off the thread
    PRIMARY KEY (scope_id, id)
) STRICT;

-- Branches. A message stands behind its parent; 0 is the beginning. One way through the tree, the thread, is what
-- windows and pages read: the rows on it have no off_thread. A child is never older than its parent, so the thread's
-- order is that of time and then of id, and its newest row is the head. An id is never given twice; `uid` is the
-- caller's, by which a message that is stored again is known.
CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    scope_id INTEGER NOT NULL,
    session_id TEXT NOT NULL,
    role TEXT NOT NULL,
    content TEXT,
    tool_calls TEXT,
    tool_call_id TEXT,
    name TEXT,
    created_at TEXT NOT NULL,
    parent_id INTEGER,
    turn_id TEXT,
    token_count INTEGER,
    importance REAL,
    pinned INTEGER,
    files TEXT,
    run_id TEXT,
    finish_reason TEXT,
    digest BLOB, -- of what it says; empty for a system message
    off_thread INTEGER, -- 1, or NULL for on it
    uid TEXT,
    estimate INTEGER, -- what it costs in a window, as an encrypted text tells nothing
    recalled TEXT, -- what was recalled for the question that it is: references, never words
    FOREIGN KEY (scope_id, session_id) REFERENCES sessions (scope_id, id) ON DELETE CASCADE
) STRICT;

CREATE TABLE summaries (
    scope_id INTEGER NOT NULL,
    session_id TEXT NOT NULL,
    upto_message_id INTEGER NOT NULL,
    text TEXT NOT NULL,
    token_count INTEGER NOT NULL,
    model TEXT NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (scope_id, session_id),
    FOREIGN KEY (scope_id, session_id) REFERENCES sessions (scope_id, id) ON DELETE CASCADE
) STRICT;

-- Outlives its message: as 'removed' it says that a vector may be left behind.
CREATE TABLE embedding_state (
    scope_id INTEGER NOT NULL REFERENCES scopes (id),
    message_id INTEGER NOT NULL,
    model TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'embedded', 'failed', 'removed')),
    attempts INTEGER NOT NULL DEFAULT 0,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (scope_id, message_id)
) STRICT;

CREATE INDEX idx_sessions_id ON sessions (id); -- whose a conversation is
CREATE INDEX idx_sessions_used ON sessions (scope_id, updated_at, id);
CREATE UNIQUE INDEX idx_messages_scope ON messages (scope_id, id);
CREATE INDEX idx_messages_session ON messages (scope_id, session_id, id);
CREATE INDEX idx_messages_created ON messages (scope_id, created_at);
-- With what is asked of many rows at a time: in a row it stands behind all of the text.
CREATE INDEX idx_messages_thread
    ON messages (scope_id, session_id, created_at, id, digest, off_thread) WHERE off_thread IS NULL;
CREATE INDEX idx_messages_importance ON messages (scope_id, session_id, importance) WHERE off_thread IS NULL;
CREATE INDEX idx_messages_pinned ON messages (scope_id, session_id) WHERE pinned = 1;
CREATE INDEX idx_messages_off_thread ON messages (scope_id, importance) WHERE off_thread = 1;
CREATE INDEX idx_messages_digest ON messages (scope_id, session_id, digest, parent_id);
CREATE INDEX idx_messages_roots ON messages (scope_id, digest) WHERE parent_id = 0;
CREATE INDEX idx_messages_unlinked ON messages (scope_id, digest, session_id) WHERE digest IS NULL;
-- What stands behind a message is looked up for every message that is shown: where it is more than one, there is a choice.
CREATE INDEX idx_messages_parent ON messages (scope_id, session_id, parent_id);
-- Messages that carry files are few, and are listed without a look at the others.
CREATE INDEX idx_messages_files ON messages (scope_id, id, session_id) WHERE files IS NOT NULL;
CREATE UNIQUE INDEX idx_messages_uid ON messages (scope_id, uid, session_id);
-- With all that is asked of the questions of a session, which stands in the rows behind all of their texts.
CREATE INDEX idx_messages_recalled ON messages (scope_id, session_id, id, uid, recalled) WHERE recalled IS NOT NULL;
CREATE INDEX idx_embedding_removed ON embedding_state (scope_id, message_id) WHERE status = 'removed';

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

CREATE TABLE catalogued_days (
    place TEXT NOT NULL REFERENCES catalogue (place) ON DELETE CASCADE,
    day TEXT NOT NULL,
    messages INTEGER NOT NULL,
    PRIMARY KEY (place, day)
) STRICT, WITHOUT ROWID;

CREATE INDEX messages_by_day ON catalogued_days (day, messages);

-- The data directory that the file belongs to, by the id in its `identity.json`; no row in a file of none. `owner` is
-- whose it is, by the names of its folders; empty for a file that is nobody's.
CREATE TABLE identity (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    directory TEXT NOT NULL,
    owner TEXT NOT NULL
) STRICT;
