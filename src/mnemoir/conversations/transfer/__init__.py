"""Sessions out and in again: as JSON lines that lose nothing, as texts to read, and from the files of other programs.

An export is made while it is read. An import is checked whole before the first message of it is stored.
"""

from mnemoir.conversations.transfer.exporting import ExportFormat, export_all, export_session
from mnemoir.conversations.transfer.files import write_export
from mnemoir.conversations.transfer.importing import ImportReport, OnConflict, SkippedSession, import_sessions
from mnemoir.conversations.transfer.recognition import ImportFormat

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
