"""The file of another program in the place of the folder of conversations: it is imported once.

The setting `memory.storage_path` of harombe names its database, and so may that of Mnemoir: the conversations in it
are imported at the first start, which is noted. The file is only read.
"""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from mnemoir.chats.conversations import Conversations
from mnemoir.chats.import_policy import IMPORTS, policy_change
from mnemoir.chats.imports import Imports
from mnemoir.conversations.attachments.attachments import Attachments
from mnemoir.conversations.transfer import ImportReport, import_sessions
from mnemoir.conversations.transfer.copies import InvalidImport
from mnemoir.conversations.transfer.importing import UNFINISHED_WHY
from mnemoir.conversations.transfer.recognition import format_of
from mnemoir.conversations.users import OwnConversations
from mnemoir.core.clock import utc_now
from mnemoir.core.errors import SettingsError
from mnemoir.core.scope import DEFAULT_USER, Scope
from mnemoir.privacy.handling import PersonalData
from mnemoir.settings import Settings
from mnemoir.storage.disk_files import file_errors
from mnemoir.storage.sql.ageing import SqlStamps, stamp_of_import

_SETTING = "memory.storage_path"


@dataclass(frozen=True, slots=True, kw_only=True)
class PastImport:
    """What was imported from the file that the setting names."""

    file: Path
    conversations: int
    messages: int
    skipped: int = 0

    def __str__(self) -> str:
        left_out = (
            f" {self.skipped} more are not imported: they cannot be read, or are there." if self.skipped else ""
        )
        return (
            f"Imported {self.conversations} conversations with {self.messages} messages for the user {DEFAULT_USER} "
            f"from {self.file}.{left_out} The file was only read, and is imported once: take {_SETTING} out."
        )


def refuse_other_file(settings: Settings) -> None:
    """Raise SettingsError where the setting names a file that is not the database of another program. Blocks."""
    path = settings.memory.past_file
    if path is None:
        return
    try:
        with file_errors(path), path.open("rb") as file:
            kind = format_of(file, "auto")
    except InvalidImport:
        raise _refusal(path, "It is neither a folder nor the database of harombe.") from None
    if kind != "harombe":
        raise _refusal(path, f"It is a file of chats ({kind}). Bring it in with `mnemoir import {path}`.")


async def import_past_file(
    settings: Settings,
    conversations: Conversations,
    imports: Imports,
    stamps: SqlStamps,
    personal_data: PersonalData,
) -> PastImport | None:
    """Import the file that the setting names; None for no file, and for one that was imported before.

    An import that was cut is made whole by the next start. Raises SettingsError for a file that cannot be imported.
    """
    path = settings.memory.past_file
    if path is None or await stamps.read(stamp_of_import(path)) is not None:
        return None
    scope = Scope(project=settings.memory.default_project, user=DEFAULT_USER)
    change = await policy_change(personal_data, scope, is_kept=True)

    def store(own: OwnConversations) -> ImportReport:
        objects = Attachments(own.node_parts.objects)
        with file_errors(path):
            for each in import_sessions(own.manager, path, format="harombe", dry_run=True).skipped:
                if each.why == UNFINISHED_WHY:  # what an import that was cut has left
                    own.manager.delete_session(each.id)
            return import_sessions(
                own.manager, path, format="harombe", user=scope.user, attachments=objects, change=change
            )

    async with conversations.deciding(scope, IMPORTS), conversations.of(scope) as own:
        try:
            report = await asyncio.to_thread(store, own)
        except InvalidImport as exc:
            raise _refusal(path, exc.message) from exc
        await imports.note_conversations(scope, own, report)
    await stamps.write(stamp_of_import(path), utc_now())
    counts = {"conversations": report.sessions, "messages": report.messages, "skipped": len(report.skipped)}
    return PastImport(file=path, **counts)


def _refusal(path: Path, cause: str) -> SettingsError:
    return SettingsError(f"{_SETTING} names the file {path}. {cause} Name a folder there, or leave the setting out.")
