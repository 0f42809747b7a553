"""The SQLite file of harombe, read without ever being opened as a file: from its bytes, in memory.

Nothing is written to it, no log beside it is touched, and what its schema might make SQLite do is off: views, virtual
tables and computed columns are refused.
"""

from collections.abc import Iterator
from typing import Any, BinaryIO

import apsw

from mnemoir.conversations.message_rows import Columns, message_of
from mnemoir.conversations.sessions import SessionMetadata, metadata_of
from mnemoir.conversations.transfer.bounded_json import read_value
from mnemoir.conversations.transfer.conversations_file import session_id_of
from mnemoir.conversations.transfer.copies import InvalidImport, MessageCopy, SessionCopy
from mnemoir.conversations.transfer.instants import read_text
from mnemoir.core.errors import InvalidRequest

MAGIC = b"SQLite format 3\0"
_MOST_BYTES = 256 * 2**20
_WRITTEN_BY = slice(18, 20)  # of the header: 1 without a log beside the file, 2 with one
_TABLES = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name IN ('sessions', 'messages')"
_COMPUTED = "SELECT count(*) FROM pragma_table_xinfo('sessions') WHERE hidden > 0 UNION ALL \
SELECT count(*) FROM pragma_table_xinfo('messages') WHERE hidden > 0"
_SESSIONS = "SELECT id, created_at, updated_at, system_prompt, metadata FROM sessions ORDER BY created_at, id"
_MESSAGES = "SELECT id, role, content, tool_calls, tool_call_id, name, created_at FROM messages \
WHERE session_id = ? ORDER BY created_at, id"
