"""The tables of `mnemoir.db` and `runs.db` by kind of memory, the encrypted cells of all files, and a check of rows.

Each table of `mnemoir.db` is listed here once, or in `OTHER_TABLES`, which hold no texts of users.

A query binds and returns a cell under the name of its column. A query that writes one binds the key of its row, too;
one that reads some returns or binds it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mnemoir.core.scope import NOWHERE
from mnemoir.storage.sql.engine import Sql, queries

Tables = Mapping[str, tuple[str, ...]]
Owner = tuple[str, str, str]  # tenant, project, user: whose key encrypts

SERVER: Owner = (NOWHERE, "", "")  # the owner of what belongs to no user

FACT_TABLES: Tables = {
    "memories": ("text", "metadata", "extra"),
    "entries": ("terms", "vector", "token_ids"),
    "vectors": ("vector",),
    "codes": ("codes",),
    "history": ("old_text", "new_text", "state", "left_hash"),
    "sources": ("turns",),
    "receipts": ("applied", "proposed", "request_hash"),
    "file_index": ("terms", "vector", "token_ids", "token_codes"),
    "file_vectors": ("vector",),
}
PROPOSAL_TABLES: Tables = {"proposals": ("text", "previous_text", "state")}
PERSONAL_TABLES: Tables = {"pii_values": ("original",)}
JOB_TABLES: Tables = {"jobs": ("payload", "result", "error")}
RUN_TABLES: Tables = {"runs": ("question", "error", "trace")}
CONVERSATION_TABLES: Tables = {"catalogue": (), "catalogued_conversations": (), "catalogued_days": ()}
OTHER_TABLES = ("scopes", "file_projects", "project_settings", "holds", "usage", "migrations")

DIGESTS = ("content_hash", "known_hash")  # bound values that are digests of texts, by which these are found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SealedFile:
    """What is encrypted in a kind of database file.

    `tables` are the encrypted columns by table. `row_keys` are the names under which queries bind and return what a
    cell is bound to: it tells a row of its table and never changes. `key_columns` are what gives it in the table, if
    that has another name, and `paged_by` the numbers by which rows are gone through, if these are others, which some
    rows may share. `joined` columns hold bytes and are one cell, which stands in the first of them, in rows where
    that is not NULL: a query that writes or returns one of them does so with all. Rows of `unscoped` tables name no
    scope. `are_bytes`: texts are stored as bytes too, as queries return them.
    """

    tables: Tables
    row_keys: Mapping[str, str]
    joined: Tables = field(default_factory=dict)
    key_columns: Mapping[str, str] = field(default_factory=dict)
    paged_by: Mapping[str, str] = field(default_factory=dict)
    unscoped: Sequence[str] = ()
    are_bytes: bool = False


# Not the index of project files, which are plain themselves.
MAIN_FILE = SealedFile(
    tables={
        table: columns
        for tables in (FACT_TABLES, PROPOSAL_TABLES, PERSONAL_TABLES, JOB_TABLES, RUN_TABLES)
        for table, columns in tables.items()
        if table not in ("file_index", "file_vectors")
    },
    row_keys={
        "memories": "seq",
        "entries": "seq",
        "vectors": "place",
        "codes": "seq",
        "history": "number",
        "sources": "id",
        "receipts": "key",
        "proposals": "id",
        "pii_values": "label",
        "jobs": "id",
        "runs": "id",
    },
    joined={"entries": ("vector", "terms", "token_ids")},
    paged_by={"vectors": "seq"},
    unscoped=(*JOB_TABLES, *RUN_TABLES),
)
# The files of one user's conversations. The views of messages and sessions return bytes under these names.
SESSION_FILE = SealedFile(
    tables={
        "messages": ("content", "tool_calls", "name", "files"),
        "sessions": ("system_prompt", "metadata"),
        "summaries": ("text",),
    },
    row_keys={"messages": "uid", "sessions": "session", "summaries": "session"},
    key_columns={"sessions": "id", "summaries": "session_id"},
    paged_by={"messages": "id"},
    are_bytes=True,
)
VECTOR_FILE = SealedFile(
    tables={
        "vectors": ("vector", "document", "metadata", "token_ids", "token_codes"),
        "second_vectors": ("vector",),
    },
    row_keys={"vectors": "id", "second_vectors": "id"},
    key_columns={"second_vectors": "(SELECT id FROM vectors WHERE vectors.row = second_vectors.row)"},
    paged_by={"vectors": "row", "second_vectors": "row"},
)
_QUERIES = queries("integrity")


def misplaced(sql: Sql, limit: int) -> list[str]:
    """One line for each memory with missing or wrong rows; [] without any. Reads all memories."""
    return [f"memory {memory_id} {what}" for memory_id, what in sql.rows(_QUERIES["misplaced"], limit=limit)]
