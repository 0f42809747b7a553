"""The tables of `mnemoir.db` and `runs.db` by holding, the encrypted cells of all files, and a check of rows.

What goes through all tables (export, erasure, counting, re-encryption) is made of what a table says here. Each table
of `mnemoir.db` is here once, or in `OTHER_TABLES`, which hold no texts of users.

A query binds and returns a cell under the name of its column. A query that writes one binds the key of its row, too;
one that reads some returns or binds it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from mnemoir.core.scope import NOWHERE
from mnemoir.storage.sql.engine import Sql, queries

Tables = Mapping[str, tuple[str, ...]]
Owner = tuple[str, str, str]  # tenant, project, user: whose key encrypts

SERVER: Owner = (NOWHERE, "", "")  # the owner of what belongs to no user
DIGESTS = ("content_hash", "known_hash")  # bound values that are digests of texts, by which these are found


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What has to be known of a table by what goes through all tables.

    `sealed` are its columns with words of users, which are encrypted; `blobs` are those of them that hold bytes.
    `key` is the column that tells a row of its table and never changes; a cell is bound to it, and rows of a scope
    are gone through by it, or by the numbers in the column `paged_by`. `key_value` gives it where it is no column.
    Sealed columns that are `joined` are one cell, see `SealedFile`. `content_hash` is the digest of the `hashed`
    column. Rows of a table that is not scoped name no scope; those that go along are deleted with others. `archive`
    is the name of the table in the archive of a person and in reports, `columns` are what is told there, in the order
    of `sorted_by`, and `documents` those of them that are JSON.
    """

    key: str = ""
    key_value: str = ""
    paged_by: str = ""
    is_numbered: bool = False
    sealed: tuple[str, ...] = ()
    blobs: tuple[str, ...] = ()
    joined: tuple[str, ...] = ()
    hashed: str | None = None
    is_scoped: bool = True
    goes_along: bool = False
    archive: str | None = None
    columns: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    sorted_by: str = ""


FACT_TABLES: Mapping[str, Table] = {
    "memories": Table(
        key="seq",
        is_numbered=True,
        sealed=("text", "metadata", "extra"),
        hashed="text",
        archive="memories",
        columns=(
            *("seq", "id", "kind", "agent", "app", "conversation", "role", "speaker", "created_at", "updated_at"),
            *("expires_on", "valid_to", "replaced_by", "text", "metadata", "extra"),
        ),
        documents=("metadata", "extra"),
    ),
    "entries": Table(
        key="seq",
        is_numbered=True,
        sealed=("terms", "names", "vector", "token_ids"),
        blobs=("terms", "names", "vector", "token_ids"),
        joined=("vector", "terms", "token_ids", "names"),
        goes_along=True,
    ),
    "vectors": Table(
        key="place",
        key_value="seq || ' ' || space || ' ' || part",
        paged_by="seq",
        is_numbered=True,
        sealed=("vector",),
        blobs=("vector",),
        goes_along=True,
    ),
    "codes": Table(key="seq", is_numbered=True, sealed=("codes",), blobs=("codes",), goes_along=True),
    "history": Table(  # before the sources, which it names
        key="number",
        is_numbered=True,
        sealed=("old_text", "new_text", "state", "left_hash"),
        blobs=("left_hash",),
        archive="history",
        columns=(
            *("number", "memory_id", "event", "at", "reason", "model", "source_id", "change_id", "undo_of", "agent"),
            *("app", "conversation", "old_text", "new_text", "state"),
        ),
        documents=("state",),
    ),
    "sources": Table(
        key="id",
        is_numbered=True,
        sealed=("turns",),
        archive="sources",
        columns=("id", "session", "turns"),
        documents=("turns",),
    ),
    "receipts": Table(
        key="key",
        sealed=("applied", "proposed", "request_hash"),
        archive="receipts",
        columns=("key", "reason", "given_at", "applied", "proposed"),
        documents=("applied", "proposed"),
    ),
    "file_index": Table(is_scoped=False),  # of project files, which are plain themselves
    "file_vectors": Table(is_scoped=False),
}
PROPOSAL_TABLES: Mapping[str, Table] = {
    "proposals": Table(
        key="id",
        sealed=("text", "previous_text", "state"),
        hashed="text",
        archive="proposals",
        columns=(
            *("number", "id", "event", "memory_id", "agent", "app", "conversation", "reason", "at", "successor"),
            *("model", "session", "source_id", "text", "previous_text", "state"),
        ),
        documents=("state",),
        sorted_by="number",
    )
}
PERSONAL_TABLES: Mapping[str, Table] = {
    "pii_values": Table(
        key="label",
        key_value="kind || ' ' || number",
        sealed=("original",),
        archive="personal_data",
        columns=("label", "kind", "number", "about", "session_id", "original"),
        sorted_by="kind, number, about, session_id",
    )
}
IMPORT_TABLES: Mapping[str, Table] = {
    "imports": Table(
        key="id",
        archive="imports",
        columns=("id", "kind", "program", "state", "created_at", "stored", "done", "learned", "to_review", "failed"),
        sorted_by="created_at, id",
    ),
    "import_conversations": Table(
        key="id",
        sealed=("left_state",),
        archive="imported_conversations",
        columns=("id", "import_id", "conversation", "is_new", "first_message", "last_message", "learned_to"),
        sorted_by="id",
    ),
}
JOB_TABLES: Mapping[str, Table] = {"jobs": Table(key="id", sealed=("payload", "result", "error"), is_scoped=False)}
LOG_TABLES: Mapping[str, Table] = {  # of `mnemoir.db`, and of a file of one user's conversations
    "messages": Table(
        key="uid",
        paged_by="id",
        is_numbered=True,
        sealed=("content", "tool_calls", "name", "files", "recalled"),
    ),
    "embedding_state": Table(key="message_id", is_numbered=True),
    "summaries": Table(key="session", key_value="session_id", sealed=("text",)),
    "sessions": Table(key="session", key_value="id", sealed=("system_prompt", "metadata")),
}
CONVERSATION_TABLES: Mapping[str, Table] = dict(LOG_TABLES) | {
    name: Table(is_scoped=False) for name in ("catalogue", "catalogued_conversations", "catalogued_days")
}
USAGE_TABLES: Mapping[str, Table] = {"usage": Table(is_scoped=False)}
OTHER_TABLES = (
    "scopes",
    "file_projects",
    "project_settings",
    "holds",
    "adoptions",
    "stamps",
    "tombstones",
    "migrations",
    "identity",
)
RUN_TABLES: Mapping[str, Table] = {  # of `runs.db`
    "runs": Table(key="id", sealed=("question", "error", "trace"), is_scoped=False)
}

# Every table of `mnemoir.db` that belongs to a holding; the registration of a holding adds its own.
TABLES: dict[str, Table] = {
    **FACT_TABLES,
    **PROPOSAL_TABLES,
    **PERSONAL_TABLES,
    **IMPORT_TABLES,
    **JOB_TABLES,
    **CONVERSATION_TABLES,
    **USAGE_TABLES,
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SealedFile:
    """What is encrypted in a kind of database file.

    `tables` are the encrypted columns by table. `row_keys` are the names under which queries bind and return what a
    cell is bound to: it tells a row of its table and never changes. `key_columns` are what gives it in the table, if
    that has another name, and `paged_by` the numbers by which rows are gone through, if these are others, which some
    rows may share. `joined` columns hold bytes and are one cell, which stands in the first of them, in rows where
    that is not NULL: a query that writes or returns one of them does so with all. Rows of `unscoped` tables name no
    scope. Of `numbered` tables the column that pages them holds numbers; `blobs` are columns that hold bytes, and
    `hashed` the column by table whose digest is in `content_hash`.
    """

    tables: Tables
    row_keys: Mapping[str, str]
    joined: Tables = field(default_factory=dict)
    key_columns: Mapping[str, str] = field(default_factory=dict)
    paged_by: Mapping[str, str] = field(default_factory=dict)
    unscoped: Sequence[str] = ()
    numbered: Sequence[str] = ()
    blobs: Collection[str] = ()
    hashed: Mapping[str, str] = field(default_factory=dict)


def scoped_tables() -> Mapping[str, Table]:
    """The tables whose rows begin with the number of a scope, without those whose rows go along with others."""
    return {name: table for name, table in TABLES.items() if table.is_scoped and not table.goes_along}


def main_file() -> SealedFile:
    """What is encrypted in `mnemoir.db` and `runs.db`."""
    return _sealed_file((*TABLES.items(), *RUN_TABLES.items()))


@lru_cache(maxsize=8)
def _sealed_file(tables: tuple[tuple[str, Table], ...]) -> SealedFile:
    sealed = {name: table for name, table in tables if table.sealed}
    return SealedFile(
        tables={name: table.sealed for name, table in sealed.items()},
        row_keys={name: table.key for name, table in sealed.items()},
        joined={name: table.joined for name, table in sealed.items() if table.joined},
        key_columns={name: table.key_value for name, table in sealed.items() if table.key_value},
        paged_by={name: table.paged_by for name, table in sealed.items() if table.paged_by},
        unscoped=[name for name, table in sealed.items() if not table.is_scoped],
        numbered=[name for name, table in sealed.items() if table.is_numbered],
        blobs={column for table in sealed.values() for column in table.blobs},
        hashed={name: table.hashed for name, table in sealed.items() if table.hashed is not None},
    )


SESSION_FILE = _sealed_file(tuple(LOG_TABLES.items()))  # the files of one user's conversations
VECTOR_FILE = SealedFile(
    tables={
        "vectors": ("vector", "document", "metadata", "token_ids", "token_codes"),
        "second_vectors": ("vector",),
    },
    row_keys={"vectors": "id", "second_vectors": "id"},
    key_columns={"second_vectors": "(SELECT id FROM vectors WHERE vectors.row = second_vectors.row)"},
    paged_by={"vectors": "row", "second_vectors": "row"},
    numbered=("vectors", "second_vectors"),
    blobs=("vector", "token_ids", "token_codes"),
)
_QUERIES = queries("integrity")


def misplaced_memories(sql: Sql, limit: int) -> list[str]:
    """One line for each memory with missing or wrong rows; [] without any. Reads all memories."""
    return [f"memory {memory_id} {what}" for memory_id, what in sql.rows(_QUERIES["misplaced"], limit=limit)]
