"""Databases of a data directory that are lost: named, taken as they are, and expected again after a restore.

What is lost must be there, and is missing, empty or of another directory. To take a loss as it is keeps what lies in
the place under another name, and leaves an entry in the audit log.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from mnemoir.access.access_file import NO_KEYS_LEFT, AccessFile
from mnemoir.chats.conversation_folders import folder_of, folders_below, place_of, refuse_link
from mnemoir.core.atomic_file import sync_folder
from mnemoir.core.data_directory import (
    ACCESS_FILE,
    DATABASE_FILE,
    IDENTITY_FILE,
    PEPPER_FILE,
    POSTGRES,
    SESSIONS_FILE,
)
from mnemoir.core.discussion_id import is_encoded
from mnemoir.core.errors import InvalidRequest, NotFound, StorageDamaged, StorageUnavailable
from mnemoir.core.scope import DEFAULT_TENANT, Scope
from mnemoir.settings import Settings
from mnemoir.settings.tree import Storage
from mnemoir.storage.databases import (
    Database,
    DirectoryIdentity,
    Membership,
    databases,
    embedded,
    lost_identity_error,
)
from mnemoir.storage.disk_files import beside, file_errors, loss_of
from mnemoir.storage.process_lock import LOCK_FILE, ProcessLock
from mnemoir.storage.spelled_folders import SpelledFolders
from mnemoir.storage.sql.access.api_keys import has_had_keys
from mnemoir.storage.sql.conversation_marks import ConversationMarks, marked_scopes
from mnemoir.trees.served import folder_of_conversations

_ACT = "files.begin_anew"
_DATABASES = (DATABASE_FILE, POSTGRES, ACCESS_FILE)


def losses_in(settings: Settings) -> Mapping[str, str]:
    """What is lost, by the name that `begin_anew` takes: an error message each. Also beside a running server; blocks.

    Raises StorageUnavailable where the disk fails.
    """
    identity = DirectoryIdentity(settings.storage.data_dir, settings.memory.conversations_folder)
    try:
        found = dict(_lost_databases(settings, identity))
        id = identity.id
    except StorageDamaged as exc:
        return {IDENTITY_FILE: exc.message}
    if id is None or found.keys() & {IDENTITY_FILE, DATABASE_FILE, POSTGRES}:
        return found
    return found | dict(_lost_conversations(settings, identity))


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunAnew:
    """What may be made anew. `kept_as` is where that lies now which was in its place; None for nothing."""

    path: Path
    kept_as: Path | None


def begin_anew(settings: Settings, named: str) -> BegunAnew:
    """Take the loss of a file as it is: the next start, or the next message, begins it anew. No server may run.

    `named` is a path, also below the data directory. Raises NotFound without a data directory, InvalidRequest for
    what is not lost, and StorageUnavailable. Repeated after a failure it goes on.
    """
    data_dir = settings.storage.data_dir
    if not data_dir.is_dir():
        raise NotFound(f"There is no data directory {data_dir}. Name another one with --data-dir.")
    identity = DirectoryIdentity(data_dir, settings.memory.conversations_folder)
    path, lost = data_dir / named, losses_in(settings)
    name = identity.name_of(path)
    if name not in lost:
        others = f" Lost are: {', '.join(lost)}." if lost else " Nothing is lost here."
        raise InvalidRequest(f"{name} is not lost, so nothing was changed.{others}")
    if name in (*_DATABASES, IDENTITY_FILE):
        with file_errors(data_dir):
            lock = ProcessLock(data_dir)
        try:
            return _begin_file(settings, name)
        finally:
            lock.release()
    return asyncio.run(_begin_conversations(settings, path, name))


def expect_contents(data_dir: Path) -> None:
    """Expect of a restored data directory what was restored, and nothing else. Blocks; raises StorageUnavailable."""
    database, identity = data_dir / DATABASE_FILE, DirectoryIdentity(data_dir)
    if not database.exists() and not identity.path.exists():
        return
    there = [DATABASE_FILE] if database.exists() else [name for name in identity.expectation if name == POSTGRES]
    identity.expect_only(there, id=identity.id_in_remains)
    settings = Settings(storage=Storage(data_dir=data_dir))
    AccessFile(settings).close()  # the look at its keys notes that they must be there
    if database.exists():
        asyncio.run(_mark_present(settings, identity))


def _lost_databases(settings: Settings, identity: DirectoryIdentity) -> Iterator[tuple[str, str]]:
    """The lost databases of the directory itself; its identity, where that is missing beside one that has an id."""
    root = identity.path.parent
    if identity.id is None:
        if (found := identity.remains) is not None:
            yield IDENTITY_FILE, lost_identity_error(identity.path, found).message
        return
    dsn = settings.storage.dsn
    main, other = (DATABASE_FILE, POSTGRES) if dsn is None else (POSTGRES, DATABASE_FILE)
    if other in identity.expectation:
        yield other, identity.elsewhere_error(other).message
    if lost := databases(dsn).loss_of_main(root / DATABASE_FILE, identity):
        yield main, lost
    if identity.is_expected(ACCESS_FILE):
        membership, path = identity.membership(ACCESS_FILE), root / ACCESS_FILE
        what = databases(dsn).loss_of_access(path, identity) or _loss_of_keys(databases(dsn), path)
        if what is not None:
            yield ACCESS_FILE, membership.loss_error(path, what).message


def _lost_conversations(settings: Settings, identity: DirectoryIdentity) -> Iterator[tuple[str, str]]:
    database, root, folders = (
        settings.storage.data_dir / DATABASE_FILE,
        folder_of_conversations(settings),
        SpelledFolders(),
    )
    marked: Sequence[Scope] = []
    if settings.storage.dsn is not None or loss_of(database) is None:
        with suppress(StorageUnavailable):  # other checks name what is wrong with it
            marked = databases(settings.storage.dsn).read(database, marked_scopes)
    expected = {folder_of(folders, root, scope) for scope in marked}
    for folder in sorted(expected | {folder for folder, *_ in folders_below(root)}):
        path = folder / SESSIONS_FILE
        membership = replace(identity.membership(identity.name_of(path)), owner=place_of(folder))
        what = membership.loss_in(path) if folder in expected else _owner_there(path, membership)
        if what is not None:
            yield membership.name, membership.loss_error(path, what).message


def _loss_of_keys(database: Database, path: Path) -> str | None:
    """Why a file of keys is lost that is there: nobody is in it; None for one that is damaged otherwise."""
    try:
        return None if database.read_access(path, has_had_keys) else NO_KEYS_LEFT
    except StorageUnavailable:
        return None  # other checks name what is wrong with it


def _owner_there(path: Path, membership: Membership) -> str | None:
    """Why a file that need not be there may not be either: it is another user's; None for one that may."""
    try:
        stored = embedded.belonging_of(path)
    except StorageUnavailable:
        return None  # other checks name what is wrong with it
    return membership.difference(stored) if membership.is_of_another(stored) else None


def _begin_file(settings: Settings, name: str) -> BegunAnew:
    identity = DirectoryIdentity(settings.storage.data_dir, settings.memory.conversations_folder)
    path = settings.storage.data_dir / name
    if name == IDENTITY_FILE:
        kept_as = _keep_apart(path)
        there = [each for each in _DATABASES if loss_of(path.with_name(each)) is None]
        had_keys = identity.has_keys_note or (path.parent / PEPPER_FILE).exists()
        lacks_keys = had_keys and ACCESS_FILE not in there
        expected = [*[each for each in there if each == DATABASE_FILE], *([ACCESS_FILE] if lacks_keys else [])]
        identity.expect_only(expected, id=identity.id_in_remains)
        if lacks_keys:  # a loss of its own, without which nobody can write the act down
            return BegunAnew(path=path, kept_as=kept_as)
    else:
        kept_as = None if name == POSTGRES else _keep_apart(path)
        identity.release(name)
        if name == POSTGRES and identity.is_expected(ACCESS_FILE):  # the keys in it are lost too, and told next
            return BegunAnew(path=path, kept_as=kept_as)
    _note(settings, name)
    return BegunAnew(path=path, kept_as=kept_as)


async def _begin_conversations(settings: Settings, path: Path, name: str) -> BegunAnew:
    refuse_link(path.parent)
    database = settings.storage.data_dir / DATABASE_FILE
    engine = databases(settings.storage.dsn).open_main(
        database, identity=DirectoryIdentity(settings.storage.data_dir, settings.memory.conversations_folder)
    )
    try:
        marks, root, folders = ConversationMarks(engine), folder_of_conversations(settings), SpelledFolders()
        kept_as = _keep_apart(path)
        await asyncio.to_thread(_note, settings, name)
        for scope in await marks.all():
            if folder_of(folders, root, scope) == path.parent:
                await marks.drop(scope)
    finally:
        await engine.aclose()
    return BegunAnew(path=path, kept_as=kept_as)


def _note(settings: Settings, name: str) -> None:
    """Write the act into the audit log; where the file of that was lost, into a new one."""
    with closing(AccessFile(settings)) as file:
        if file.existing() is not None or name == ACCESS_FILE:
            log, key = file.audit_log()
            log.put([file.entry(_ACT, DEFAULT_TENANT, name)], key)


def _keep_apart(path: Path) -> Path | None:
    """Rename what is in the place of a lost file, with its log, durably; the new path, None for nothing."""
    kept_as = beside(path, f".lost-{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}")
    is_any = False
    with file_errors(path):
        for suffix in ("-wal", "-shm", ""):  # the file last: until then it is still lost when this is repeated
            if (file := beside(path, suffix)).exists():
                file.rename(beside(kept_as, suffix))
                is_any = True
        if is_any:
            sync_folder(path.parent)
    return kept_as if is_any else None


async def _mark_present(settings: Settings, identity: DirectoryIdentity) -> None:
    """Mark those whose conversations are there: told by the rows of scopes, and by the names of folders."""
    database = databases(settings.storage.dsn)
    engine = database.open_main(settings.storage.data_dir / DATABASE_FILE, identity=identity)
    try:
        marks, root, folders = ConversationMarks(engine), folder_of_conversations(settings), SpelledFolders()
        named = [
            Scope(tenant=tenant, project=project, user=folder.name)
            for folder, tenant, project in folders_below(root)
            if tenant is not None and project is not None and not is_encoded(folder.name)
        ]
        marked = await marks.all()
        there = {
            scope for scope in (*marked, *named) if loss_of(folder_of(folders, root, scope) / SESSIONS_FILE) is None
        }
        if there != {*marked}:
            await marks.replace(there)
    finally:
        await engine.aclose()
    (settings.storage.data_dir / LOCK_FILE).unlink(missing_ok=True)  # it is not in use yet
