-- What a database of schema 4 holds, as its program wrote it: two users, one job that was running when it ended.
BEGIN TRANSACTION;
CREATE TABLE embeddings (
    seq INTEGER PRIMARY KEY REFERENCES memories (seq) ON DELETE CASCADE,
    model TEXT,
    vector BLOB,
    token_ids BLOB
) STRICT;
INSERT INTO embeddings VALUES(1,'m1',X'0101010101010101',X'0102');
INSERT INTO embeddings VALUES(2,NULL,NULL,NULL);
INSERT INTO embeddings VALUES(4,NULL,NULL,NULL);
INSERT INTO embeddings VALUES(5,'m1',X'0505050505050505',X'0102');
INSERT INTO embeddings VALUES(6,'m1',X'0606060606060606',X'0102');
CREATE INDEX embeddings_by_model ON embeddings (model);
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
    UNIQUE (project_number, user, memory_id)
) STRICT;
CREATE INDEX file_index_by_model ON file_index (model, number, project_number, user, memory_id);
CREATE TABLE file_projects (
    number INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    project TEXT NOT NULL,
    stamp TEXT,  -- of the file that file_index is in step with; NULL for no file
    UNIQUE (tenant, project)
) STRICT;
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
    new_text TEXT
, state TEXT) STRICT;
INSERT INTO history VALUES(1,1,'mem_00000000000000000000000000000001',NULL,NULL,NULL,'ADD','2026-03-01T12:00:00.000Z','extracted','gpt',1,NULL,'Likes green tea',NULL);
INSERT INTO history VALUES(2,1,'mem_00000000000000000000000000000002',NULL,NULL,NULL,'ADD','2026-03-01T12:00:00.000Z','extracted','gpt',1,NULL,'Lives in Oslo',NULL);
INSERT INTO history VALUES(3,2,'mem_00000000000000000000000000000003',NULL,NULL,NULL,'ADD','2026-03-01T12:00:00.000Z','extracted','gpt',2,NULL,'Plays the cello',NULL);
INSERT INTO history VALUES(4,2,'mem_00000000000000000000000000000004',NULL,NULL,NULL,'ADD','2026-03-01T12:00:00.000Z','extracted','gpt',2,NULL,'Has a cat',NULL);
INSERT INTO history VALUES(5,1,'mem_00000000000000000000000000000005',NULL,NULL,'c1','ADD','2026-03-01T12:00:00.000Z','extracted',NULL,NULL,NULL,'hello there',NULL);
INSERT INTO history VALUES(6,1,'mem_00000000000000000000000000000006',NULL,NULL,'c1','ADD','2026-03-01T12:00:00.000Z','extracted',NULL,NULL,NULL,'hello you',NULL);
INSERT INTO history VALUES(7,1,'mem_00000000000000000000000000000002',NULL,NULL,NULL,'UPDATE','2026-03-01T12:00:00.000Z','moved',NULL,NULL,'Lives in Oslo','Lives in Bergen',NULL);
INSERT INTO history VALUES(8,2,'mem_00000000000000000000000000000003',NULL,NULL,NULL,'DELETE','2026-03-01T12:00:00.000Z','contradicted',NULL,NULL,'Plays the cello',NULL,'{"created_at":"2026-03-01T12:03:00.000Z","updated_at":null,"metadata":null,"kind":"fact","agent":null,"app":null,"conversation":null,"role":null,"speaker":null,"expires_on":null,"extra":{}}');
INSERT INTO history VALUES(9,2,'mem_00000000000000000000000000000007',NULL,NULL,NULL,'ADD','2026-03-01T12:00:00.000Z','extracted',NULL,NULL,NULL,'Left-handed',NULL);
INSERT INTO history VALUES(10,2,'mem_00000000000000000000000000000007',NULL,NULL,NULL,'DELETE','2026-03-01T12:00:00.000Z','request',NULL,NULL,'Left-handed',NULL,'{"created_at":"2026-03-01T12:07:00.000Z","updated_at":null,"metadata":null,"kind":"fact","agent":null,"app":null,"conversation":null,"role":null,"speaker":null,"expires_on":null,"extra":{}}');
CREATE INDEX history_by_source ON history (source_id) WHERE source_id IS NOT NULL;
CREATE INDEX history_of_memory ON history (scope_id, memory_id);
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
    result TEXT
) STRICT;
INSERT INTO jobs VALUES(1,'evt_0','remember','mira','RUNNING',1,1772366400.0,NULL,'2026-03-01T12:00:00.000Z','2026-03-01T12:00:00.000Z',NULL,'{"n":0}',NULL);
INSERT INTO jobs VALUES(2,'evt_1','remember','mira','PENDING',0,1772366400.0,NULL,'2026-03-01T12:00:00.000Z','2026-03-01T12:00:00.000Z',NULL,'{"n":1}',NULL);
INSERT INTO jobs VALUES(3,'evt_2','remember','noah','PENDING',1,1772370000.0,NULL,'2026-03-01T12:00:00.000Z','2026-03-01T12:00:00.000Z','the model is down','{"n":2}',NULL);
INSERT INTO jobs VALUES(4,'evt_3','remember','','SUCCEEDED',1,1772366400.0,1772366400.0,'2026-03-01T12:00:00.000Z','2026-03-01T12:00:00.000Z',NULL,'{}','{"done":true}');
INSERT INTO jobs VALUES(5,'evt_4','remember','mira','PENDING',0,1772366400.0,NULL,'2026-03-01T12:00:00.000Z','2026-03-01T12:00:00.000Z',NULL,'{"n":4}',NULL);
CREATE INDEX jobs_ended ON jobs (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX jobs_in_queue ON jobs (queue, number) WHERE ended_at IS NULL;
CREATE INDEX jobs_running ON jobs (number) WHERE state = 'RUNNING';
CREATE INDEX jobs_waiting ON jobs (number, due_at) WHERE state = 'PENDING';
CREATE TABLE memories (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    scope_id INTEGER NOT NULL REFERENCES scopes (id),
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
    UNIQUE (id, scope_id)
) STRICT;
INSERT INTO memories VALUES(1,1,'mem_00000000000000000000000000000001','fact',1,NULL,NULL,NULL,NULL,NULL,1772366460.0,1772366460.0,NULL,1772366460.0,NULL,X'E322F4A3F3783CC700975CD96F7AEE8E','2026-03-01T12:01:00.000Z',NULL,NULL,NULL,NULL,'Likes green tea',NULL,NULL);
INSERT INTO memories VALUES(2,1,'mem_00000000000000000000000000000002','fact',5,NULL,NULL,NULL,NULL,NULL,1772366520.0,1772366400.0,NULL,1772366400.0,NULL,X'7E5C2D803C060E69F701AE0AFCF3A444','2026-03-01T12:02:00.000Z','2026-03-01T12:00:00.000Z',NULL,NULL,NULL,'Lives in Bergen',NULL,NULL);
INSERT INTO memories VALUES(3,2,'mem_00000000000000000000000000000003','fact',1,NULL,NULL,NULL,NULL,NULL,1772366580.0,1772366580.0,NULL,1772366580.0,1772366400.0,X'3F2362A91ADC11F4F23A001765F0185B','2026-03-01T12:03:00.000Z',NULL,NULL,'2026-03-01T12:00:00.000Z',NULL,'Plays the cello',NULL,NULL);
INSERT INTO memories VALUES(4,2,'mem_00000000000000000000000000000004','fact',2,NULL,NULL,NULL,NULL,NULL,1772366640.0,1772366640.0,NULL,1772366640.0,NULL,X'2C366AA471F97846A67AD1C810AF9D8B','2026-03-01T12:04:00.000Z',NULL,NULL,NULL,NULL,'Has a cat',NULL,NULL);
INSERT INTO memories VALUES(5,1,'mem_00000000000000000000000000000005','message',3,NULL,NULL,'c1','user',NULL,1772366700.0,1772366700.0,NULL,1772366700.0,NULL,X'622798F37F6038550A1D0F38F084EA5A','2026-03-01T12:05:00.000Z',NULL,NULL,NULL,NULL,'hello there',NULL,NULL);
INSERT INTO memories VALUES(6,1,'mem_00000000000000000000000000000006','message',4,NULL,NULL,'c1','assistant',NULL,1772366760.0,1772366760.0,NULL,1772366760.0,NULL,X'EDDD5A3D5674864A31DDE0EACB35D7C2','2026-03-01T12:06:00.000Z',NULL,NULL,NULL,NULL,'hello you',NULL,NULL);
INSERT INTO memories VALUES(7,1,'mem_df5cf9fce138832965a4677ec1c2955f','fact',2,NULL,NULL,NULL,NULL,NULL,1772366520.0,1772366520.0,NULL,1772366520.0,1772366400.0,X'3201AC5359A545E8E058722F2EABF504','2026-03-01T12:02:00.000Z',NULL,NULL,'2026-03-01T12:00:00.000Z','mem_00000000000000000000000000000002','Lives in Oslo',NULL,NULL);
CREATE INDEX memories_by_age ON memories (scope_id, said_at, id);
CREATE INDEX memories_by_change ON memories (scope_id, change) WHERE valid_to IS NULL;
CREATE INDEX memories_by_successor ON memories (scope_id, replaced_by) WHERE replaced_by IS NOT NULL;
CREATE INDEX messages_of_conversation
    ON memories (scope_id, conversation) WHERE kind = 'message' AND valid_to IS NULL;
CREATE UNIQUE INDEX one_current_fact_of_a_text
    ON memories (scope_id, content_hash, coalesce(agent, ''), coalesce(app, ''), coalesce(conversation, ''))
    WHERE kind = 'fact' AND valid_to IS NULL;
CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, at TEXT NOT NULL) STRICT
;
INSERT INTO migrations VALUES(1,'memories','2026-11-23T12:08:52.859Z');
INSERT INTO migrations VALUES(2,'project_files','2026-11-23T12:08:52.874Z');
INSERT INTO migrations VALUES(3,'sessions_of_sources','2026-11-23T12:08:52.899Z');
INSERT INTO migrations VALUES(4,'removed_memories','2026-11-23T12:08:52.914Z');
CREATE TABLE project_settings (
    tenant TEXT NOT NULL,
    project TEXT NOT NULL,
    memory_enabled INTEGER,
    decay_days REAL,
    search_limit INTEGER,
    extraction_prompt TEXT,
    PRIMARY KEY (tenant, project)
) STRICT;
INSERT INTO project_settings VALUES('t','p',NULL,NULL,7,NULL);
CREATE TABLE receipts (
    scope_id INTEGER NOT NULL REFERENCES scopes (id),
    key TEXT NOT NULL,
    request_hash TEXT NOT NULL,
    reason TEXT NOT NULL,
    given_at REAL NOT NULL,
    applied TEXT NOT NULL,
    PRIMARY KEY (scope_id, key)
) STRICT;
INSERT INTO receipts VALUES(1,'k1','h1','extracted',1772366400.0,'[{"event":"ADD","previous_text":null,"memory":{"id":"mem_00000000000000000000000000000001","text":"Likes green tea","user":"mira","created_at":"2026-03-01T12:01:00.000Z","updated_at":null,"metadata":null,"kind":"fact","agent":null,"app":null,"conversation":null,"role":null,"speaker":null,"expires_on":null,"valid_to":null,"replaced_by":null,"extra":{}}},{"event":"ADD","previous_text":null,"memory":{"id":"mem_00000000000000000000000000000002","text":"Lives in Oslo","user":"mira","created_at":"2026-03-01T12:02:00.000Z","updated_at":null,"metadata":null,"kind":"fact","agent":null,"app":null,"conversation":null,"role":null,"speaker":null,"expires_on":null,"valid_to":null,"replaced_by":null,"extra":{}}}]');
CREATE INDEX receipts_by_age ON receipts (given_at);
CREATE TABLE scopes (
    id INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    project TEXT NOT NULL,
    user TEXT NOT NULL,
    changes INTEGER NOT NULL DEFAULT 0,
    removals INTEGER NOT NULL DEFAULT 0,
    UNIQUE (tenant, project, user)
) STRICT;
INSERT INTO scopes VALUES(1,'t','p','mira',5,0);
INSERT INTO scopes VALUES(2,'t','p','noah',3,2);
CREATE TABLE sources (
    id INTEGER PRIMARY KEY,
    scope_id INTEGER NOT NULL REFERENCES scopes (id),
    turns TEXT NOT NULL
, session TEXT) STRICT;
INSERT INTO sources VALUES(1,1,'[{"role":"user","text":"I like green tea and live in Oslo.","speaker":null,"said_at":null}]','sess_1');
INSERT INTO sources VALUES(2,2,'[{"role":"user","text":"I like green tea and live in Oslo.","speaker":null,"said_at":null}]','sess_1');
CREATE INDEX sources_by_session ON sources (scope_id, session) WHERE session IS NOT NULL;
CREATE TABLE token_codes (
    seq INTEGER PRIMARY KEY REFERENCES memories (seq) ON DELETE CASCADE,
    codes BLOB NOT NULL
) STRICT;
INSERT INTO token_codes VALUES(1,X'636F646573206F66203031');
INSERT INTO token_codes VALUES(5,X'636F646573206F66203035');
INSERT INTO token_codes VALUES(6,X'636F646573206F66203036');
CREATE TABLE word_index (
    seq INTEGER PRIMARY KEY REFERENCES memories (seq) ON DELETE CASCADE,
    terms BLOB NOT NULL
) STRICT;
INSERT INTO word_index VALUES(1,X'CC06DA46ECEBBAD24CEE66EE49EC62E8BA6587C1BB84C490');
INSERT INTO word_index VALUES(2,X'8741A276BDD1D2203FBA098E1568927A7F223C99C345AB05');
INSERT INTO word_index VALUES(4,X'EDB81C3D2BDD95FB40F89E395B66422F3327DD2C7B9D982F');
INSERT INTO word_index VALUES(5,X'A7B6EDA801E5347D73001216B5A484DF');
INSERT INTO word_index VALUES(6,X'A7B6EDA801E5347D3DE52485756E763F');
DELETE FROM main.sqlite_sequence WHERE name='history';
INSERT INTO main.sqlite_sequence VALUES ('history', 10);
DELETE FROM main.sqlite_sequence WHERE name='jobs';
INSERT INTO main.sqlite_sequence VALUES ('jobs', 5);
DELETE FROM main.sqlite_sequence WHERE name='memories';
INSERT INTO main.sqlite_sequence VALUES ('memories', 8);
pragma application_id=1299080557;
COMMIT TRANSACTION;
