"""Export of sessions as lossless JSON lines or readable texts, and import of such lines and other programs' files.

An export is generated while it is read. An import is checked completely before its first message is stored.
"""

from mnemoir.conversations.transfer.copies import SkippedSession
from mnemoir.conversations.transfer.exporting import ExportFormat, export_all, export_session
from mnemoir.conversations.transfer.files import write_export
from mnemoir.conversations.transfer.importing import ImportReport, OnConflict, import_sessions
from mnemoir.core.conversations import ImportFormat

__all__ = [
    "ExportFormat",
    "ImportFormat",
    "ImportReport",
    "OnConflict",
    "SkippedSession",
    "export_all",
    "export_session",
    "import_sessions",
    "write_export",
]
