"""Moving a discussion to another folder, and with it to another key, or from plain files to encrypted ones and back.

All of it is written beside the target first, and gets the target's name in one step; then the source is removed. So a
killed process leaves the source whole, or the target. Files are as in WilmerAI's folders of discussions afterwards.
"""

import os
from contextlib import ExitStack, closing
from dataclasses import replace

import apsw

from mnemoir.core.atomic_file import sync_folder
from mnemoir.core.discussions import Discussion
from mnemoir.storage.discussions.ledger_entries import is_stale, with_stored_keys
from mnemoir.storage.discussions.ledger_file import LedgerFile
from mnemoir.storage.discussions.places import Place, PlacedFile, file_at, file_of, of_kinds
from mnemoir.storage.discussions.record_files import identity_of, open_connection, real, records_file, refuse_links
from mnemoir.storage.discussions.removal import is_kept, remove_files
from mnemoir.storage.disk_files import prepare_folder
from mnemoir.storage.files.workspace import file_errors
from mnemoir.storage.sqlite.transactions import storage_errors

_PAGES = 1000  # of a database, copied at once


def move_files(source: Discussion, target: Discussion) -> bool:
    """Move all files; False, with nothing changed, when the target has any or the source has none. Blocks.

    Raises KeyUnavailable and StorageUnavailable with nothing changed, also while memories of one are being made.
    """
    with ExitStack() as held:
        if not is_kept(source):
            return False
        for one in (source, target):
            held.enter_context(file_at(one.root, Place(file=one.file_name)).hold_lock())
        if is_kept(target) or not is_kept(source):
            return False
        stage = replace(target, id=f"move\0{target.id}", is_encoded=False)
        remove_files(stage)  # of a killed process
        try:
            _copy(source, stage)
            _rename(stage, target)
        except BaseException:
            remove_files(stage)
            raise
        remove_files(source)
    return True


def _copy(source: Discussion, stage: Discussion) -> None:
    _copy_ledger(source, stage)
    summary = file_of(source, "summary")
    if summary is not None:
        entries = summary.ledger_text().entries
        _staged_file(stage, "chat_summary.json").replace(summary.content_of(entries, as_array=True))
    _copy_content(file_of(source, "times"), _staged_file(stage, "timestamps.json"))
    for name in of_kinds("state", "other"):
        there = file_at(source.root, Place(steps=(source.file_name,), file=name), source.client)
        _copy_content(there if there.is_there() else None, _staged_file(stage, name))
    _copy_records(source, stage)


def _copy_ledger(source: Discussion, stage: Discussion) -> None:
    ledger = LedgerFile(source.root, source.file_name, source.client)
    if not ledger.exists:
        return
    entries = with_stored_keys(ledger.read().entries)
    _staged_file(stage, "memories.json").replace(b"[]")
    if any(map(is_stale, entries)):
        _staged_file(stage, "stale.jsonl").replace(b"")  # so that it is found, and gets its name with the folder
    LedgerFile(stage.root, stage.file_name, stage.client).rewrite(lambda _: entries)


def _copy_content(source: PlacedFile | None, target: PlacedFile) -> None:
    read = source.read() if source is not None else None
    if read is not None:
        target.replace(read[0])


def _copy_records(source: Discussion, stage: Discussion) -> None:
    path = records_file(source)
    target = real(stage.root) / stage.file_name / "vector_memory.db"
    with storage_errors(path, OSError):
        if identity_of(path) is None:
            return
        refuse_links(target)
        prepare_folder(target.parent)
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
        with (
            closing(open_connection(path, apsw.SQLITE_OPEN_READONLY)) as read,
            closing(open_connection(target)) as written,
            written.backup("main", read, "main") as copying,
        ):
            while not copying.done:
                copying.step(_PAGES)
        sync_folder(target.parent)


def _staged_file(stage: Discussion, name: str) -> PlacedFile:
    return file_at(stage.root, Place(steps=(stage.file_name,), file=name), stage.client)


def _rename(stage: Discussion, target: Discussion) -> None:
    before, after = stage.root / stage.file_name, target.root / target.file_name
    with file_errors(target.file_name, "written"):
        if before.exists():
            before.rename(after)  # over a folder that is empty at most
            sync_folder(target.root)
