"""The names of files and folders in a data directory."""

ACCESS_FILE = "access.db"
CACHE = "cache"
CONVERSATIONS = "conversations"
DATABASE_FILE = "mnemoir.db"
IDENTITY_FILE = "identity.json"
LIST_FILE = "backups.jsonl"  # of the backups that were made
LOCK_FILES = "WilmerDb.*.sqlite"  # of workflow runs, one for each user of a config tree
MEMORY_PACKS = f"{CACHE}/memories"
OWN_DISCUSSIONS = "discussions"  # without a config tree
POSTGRES = "postgresql"  # no file: what `identity.json` calls the database of memories in PostgreSQL
PEPPER_FILE = "secrets/pepper"
KEYS_MADE_FILE = "secrets/keys-were-made"  # there from the first key or person on
RUNS_FILE = "runs.db"
SAVED_MODELS = "settings"  # the models that were chosen at the running server, and their keys
SESSIONS_FILE = "conversations.db"  # in the folder of a user
STORE_FILE = "secrets/data-keys.db"
TOMBSTONES_FILE = "erased.jsonl"
