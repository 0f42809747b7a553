"""The tables of `mnemoir.db` and `runs.db` by kind of memory, their encrypted cells, and the check of their rows.

Each table of `mnemoir.db` is listed here once, or in `OTHER_TABLES`, which hold no texts of users.

A query binds and returns a cell under the name of its column. A query that writes one binds the key of its row, too;
one that reads some returns or binds it.
"""

from collections.abc import Mapping

from mnemoir.core.scope import NOWHERE
from mnemoir.storage.sql.engine import Sql, queries

Tables = Mapping[str, tuple[str, ...]]
Owner = tuple[str, str, str]  # tenant, project, user: whose key encrypts

SERVER: Owner = (NOWHERE, "", "")  # the owner of what belongs to no user

FACT_TABLES: Tables = {
    "memories": ("text", "metadata", "extra"),
    "entries": ("terms", "vector", "token_ids", "second_vector"),
    "codes": ("codes",),
    "history": ("old_text", "new_text", "state", "left_hash"),
    "sources": ("turns",),
    "receipts": ("applied", "proposed", "request_hash"),
    "file_index": ("terms", "vector", "token_ids", "token_codes", "second_vector"),
}
PROPOSAL_TABLES: Tables = {"proposals": ("text", "previous_text", "state")}
PERSONAL_TABLES: Tables = {"pii_values": ("original",)}
JOB_TABLES: Tables = {"jobs": ("payload", "result", "error")}
RUN_TABLES: Tables = {"runs": ("question", "error", "trace")}
CONVERSATION_TABLES: Tables = {"catalogue": (), "catalogued_conversations": (), "catalogued_days": ()}
OTHER_TABLES = ("scopes", "file_projects", "project_settings", "holds", "usage", "migrations")

# What is encrypted, by table; not the index of project files, which are plain themselves,
# nor the values of placeholders, which a server with encryption keeps only where its settings allow it.
SEALED_TABLES: Tables = {
    table: columns
    for tables in (FACT_TABLES, PROPOSAL_TABLES, JOB_TABLES, RUN_TABLES)
    for table, columns in tables.items()
    if table != "file_index"
}
ROW_KEYS = {
    "memories": "seq",
    "entries": "seq",
    "codes": "seq",
    "history": "number",
    "sources": "id",
    "receipts": "key",
    "proposals": "id",
    "jobs": "id",
    "runs": "id",
}
UNSCOPED_TABLES = (*JOB_TABLES, *RUN_TABLES)  # their rows name no scope
DIGESTS = ("content_hash", "known_hash")  # values that are digests of texts, by which these are found
_QUERIES = queries("integrity")


def misplaced(sql: Sql, limit: int) -> list[str]:
    """One line for each memory with missing or wrong rows; [] without any. Reads all memories."""
    return [f"memory {memory_id} {what}" for memory_id, what in sql.rows(_QUERIES["misplaced"], limit=limit)]
