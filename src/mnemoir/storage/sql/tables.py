"""The tables of `mnemoir.db` by kind of memory, with the columns that hold texts of users or data derived from them.

Each table of the schema is listed here once, or in `OTHER_TABLES`, which hold no texts of users.
"""

from collections.abc import Mapping

Tables = Mapping[str, tuple[str, ...]]

FACT_TABLES: Tables = {
    "memories": ("text", "metadata", "extra"),
    "entries": ("terms", "vector", "token_ids", "second_vector"),
    "codes": ("codes",),
    "history": ("old_text", "new_text", "state"),
    "sources": ("turns",),
    "receipts": ("applied",),
    "file_index": ("terms", "vector", "token_ids", "token_codes", "second_vector"),
}
JOB_TABLES: Tables = {"jobs": ("payload", "result", "error")}
CONVERSATION_TABLES: Tables = {"catalogue": (), "catalogued_conversations": ()}
OTHER_TABLES = ("scopes", "file_projects", "project_settings", "migrations")
