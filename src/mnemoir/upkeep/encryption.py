"""Encryption of what is stored: the keys of a data directory, the check before a start, and the upkeep of cells.

With `encryption.mode: fields` cells are encrypted as they are written. What was stored before, or by a key that a
newer one followed, is written again behind the requests; so is everything in plain once the mode is off again. As
long as no key was ever made and the mode is off, none of this is there.
"""

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import structlog

from mnemoir.chats.conversation_folders import owners_of
from mnemoir.chats.conversation_sealing import (
    ClosedFolders,
    Folders,
    bring_folders_up_to_date,
    is_any_sealed,
    is_unreadable,
    share_of_folders,
)
from mnemoir.core.atomic_file import sync_folder
from mnemoir.core.data_directory import RUNS_FILE, STORE_FILE
from mnemoir.core.discussion_id import encoded_name
from mnemoir.core.errors import InvalidRequest, KeyUnavailable, MnemoirError, SettingsError, StorageUnavailable
from mnemoir.core.scope import Scope
from mnemoir.ports.index_packs import IndexPacks
from mnemoir.ports.key_provider import KeyProvider
from mnemoir.settings import Settings
from mnemoir.storage.databases import Database, DirectoryIdentity, copy_keys, databases, embedded, key_store
from mnemoir.storage.pack_files import PackFiles
from mnemoir.storage.sealing.cells import Cells
from mnemoir.storage.sealing.key_ring import KeyRing
from mnemoir.storage.sealing.providers import command_keys, file_keys, installed_keys, variable_keys
from mnemoir.storage.sealing.resealing import (
    ScopeKeys,
    before_first,
    is_anything_keyed,
    reseal_rows,
    reseal_scope,
    reseal_table,
    scopes_after,
    share_of,
)
from mnemoir.storage.sql import SqlMemoryStore
from mnemoir.storage.sql.engine import Engine, FileEngine
from mnemoir.storage.sql.tables import RUN_TABLES, TABLES, Owner, main_file
from mnemoir.trees.served import folder_of_conversations, plain_discussions

_LOOK_S = 2.0  # how soon a change of the key store by the command line is acted on
_AGAIN_S = 3600.0  # after a key was not available
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """How many users' memories, and how many users' conversations, were brought up to date, and how many failed."""

    users: int
    conversations: int
    failed: int


class Encryption:
    """The keys of a data directory; `cells` is None where nothing is or was encrypted."""

    def __init__(self, settings: Settings, opener: Database | None = None) -> None:
        """`opener` opens the databases of the settings, and is made where there is none.

        Raises SettingsError for a provider that cannot be used, and for places that would stay plain untold.
        """
        chosen = settings.encryption
        self.databases = opener or databases(settings.storage.dsn)
        self.is_on = chosen.mode == "fields"
        self.place = key_store(chosen.store_file or settings.storage.data_dir / STORE_FILE, chosen.store_dsn)
        self.ring: KeyRing | None = None
        self.cells: Cells | None = None
        self._settings = settings
        self._conversations = folder_of_conversations(settings)
        self._task: asyncio.Task[None] | None = None
        if self.is_on:
            _refuse_plain_places(settings)
        self._had_store = self.place.exists()
        if self.is_on or self._had_store:
            self.ring = KeyRing(self.place, provider_of(settings))
            self.cells = Cells(self.ring, seals=self.is_on)
        if self.is_on:
            _refuse_unusable(self.ring)

    async def refuse_lost_store(self, database: Engine) -> None:
        """Raise StorageUnavailable when the database has encrypted cells and the key store is gone."""
        if self._had_store:
            return
        is_keyed = await database.read(None, is_anything_keyed)
        # with the mode off, a file of conversations that is encrypted is refused when it is opened
        if is_keyed or (self.is_on and await asyncio.to_thread(is_any_sealed, self._conversations)):
            raise StorageUnavailable(
                f"{self.place.name} is gone, and without it nothing that was encrypted can be read. Put the key "
                "store of these data back, or set encryption.store to where it is."
            )

    async def check(self) -> None:
        """Raise KeyUnavailable while the key of the provider, or the key store, is not there."""
        if self.ring is not None:
            await asyncio.to_thread(self.ring.check)

    def start(self, database: Engine, packs: IndexPacks, folders: Folders) -> None:
        """Bring what is stored up to date, now and after each change of the key store."""
        if self.ring is not None:
            work = self._keep_up(self.ring, database, packs, folders)
            self._task = asyncio.create_task(work, name="encryption")

    async def bring_up_to_date(self, database: Engine, packs: IndexPacks, folders: Folders) -> Brought:
        """Encrypt or decrypt what is not as it should be."""
        assert self.cells is not None
        assert self.ring is not None
        done = failed = last = 0
        while found := await database.read(None, partial(scopes_after, scope_id=last)):
            for scope in found:
                last = scope.id
                try:
                    done += await self._bring_scope_up_to_date(database, packs, scope)
                except KeyUnavailable as exc:
                    failed += 1
                    _log.warning("cells of a user not written anew", scope=scope.id, cause=exc.message)
        try:
            done_here = await self._bring_rest_up_to_date(database)
        except KeyUnavailable as exc:
            done_here, failed = False, failed + 1
            _log.warning("jobs and runs not written anew", cause=exc.message)
        if done or done_here:
            await database.empty_log()
        talks, failed_talks = await bring_folders_up_to_date(self._conversations, self.cells, self.ring, folders)
        return Brought(users=done, conversations=talks, failed=failed + failed_talks)

    def share(self, path: Path) -> tuple[int, int, int]:
        """The number of users, of those whose cells are all encrypted, and of those whose are all plain.

        Blocks; safe while a server writes.
        """
        is_there = self._settings.storage.dsn is not None or path.exists()
        return self.databases.read(path, share_of) if is_there else (0, 0, 0)

    def share_of_conversations(self) -> tuple[int, int]:
        """The number of users with conversations, and of those whose messages are all encrypted. Blocks."""
        return share_of_folders(self._conversations)

    def owners_of(self, scope: Scope) -> list[Owner]:
        """Whose keys encrypt what is stored of a user. Blocks."""
        return owners_of(self._conversations, scope)

    def owners_of_name(self, tenant: str, user: str) -> list[Owner]:
        """Whose keys there are of a user, in all projects. Blocks. Raises KeyUnavailable."""
        if self.ring is None or not self.place.exists():
            return []
        names = (user, encoded_name(user))
        return [owner for owner in self.ring.store().owners() if owner[0] == tenant and owner[2] in names]

    def is_unreadable(self, folder: Path) -> bool:
        """True for a user's folder of conversations whose keys were destroyed. Blocks."""
        return self.ring is not None and self.place.exists() and is_unreadable(folder, self.ring)

    def destroy_keys(self, owners: Sequence[Owner]) -> int:
        """Destroy all keys of owners for good; how many there were. Blocks. Raises KeyUnavailable."""
        if self.ring is None or not self.place.exists():
            return 0
        return sum(map(self.ring.destroy, owners))

    async def apply(self, path: Path, packs: Path) -> Brought:
        """`bring_up_to_date` where no server runs. Raises StorageUnavailable, also when one holds the directory."""
        opening = self.databases
        database = opening.open_main(path, self.cells, DirectoryIdentity(path.parent))
        try:
            await self.refuse_lost_store(database)
            if self.cells is None:
                return Brought(users=0, conversations=0, failed=0)
            return await self.bring_up_to_date(database, PackFiles(packs, self.cells), ClosedFolders())
        finally:
            await database.aclose()

    def copy_keys(self, file: Path) -> None:
        """Copy the key store into a new file, whole or not at all, also while a server runs. Blocks.

        Raises InvalidRequest where the file is there already or in the data directory, and StorageUnavailable.
        """
        file = file.resolve()
        if file.exists() or file.is_relative_to(self._settings.storage.data_dir.resolve()):
            raise InvalidRequest(f"{file} is there already, or in the data directory. Choose a new file elsewhere.")
        assert self.ring is not None
        with embedded.errors(file, OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".mnemoir-keys-", dir=file.parent) as folder:
                copy_keys(self.ring.store(), Path(folder) / file.name)
                (Path(folder) / file.name).rename(file)
            sync_folder(file.parent)

    def close(self) -> None:
        """Close the key store. Blocks."""
        if self.ring is not None:
            self.ring.close()

    async def aclose(self) -> None:
        """Stop, between two batches, and close the key store."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await asyncio.to_thread(self.close)

    async def _keep_up(self, ring: KeyRing, database: Engine, packs: IndexPacks, folders: Folders) -> None:
        while True:
            state, waited_s = await asyncio.to_thread(_state_of, ring), 0.0
            try:
                await asyncio.to_thread(ring.refresh)
                failed = (await self.bring_up_to_date(database, packs, folders)).failed
            except MnemoirError as exc:
                failed = 1
                _log.warning("stored cells not written anew", cause=exc.message)
            while await asyncio.to_thread(_state_of, ring) == state and not (failed and waited_s >= _AGAIN_S):
                await asyncio.sleep(_LOOK_S)
                waited_s += _LOOK_S

    async def _bring_scope_up_to_date(self, database: Engine, packs: IndexPacks, scope: ScopeKeys) -> bool:
        """Bring a scope up to date, and delete what no key opens any more; False when there was nothing to do."""
        assert self.ring is not None
        assert self.cells is not None
        if scope.hashed_by is not None and await asyncio.to_thread(self.ring.is_destroyed, scope.hashed_by):
            await SqlMemoryStore(database, packs=packs).delete_all(scope.scope)
            return True
        key = await asyncio.to_thread(self.ring.current, scope.owner) if self.is_on else None
        if scope.fits(key):
            return False
        await asyncio.to_thread(packs.drop, scope.scope.owner)  # first: when that fails, all of it is tried again
        await reseal_scope(database, self.cells, scope, key)
        return True

    async def _bring_rest_up_to_date(self, database: Engine) -> bool:
        assert self.cells is not None
        unscoped = [name for name in main_file().unscoped if name in TABLES]
        moved = any([await reseal_table(database, self.cells, name) for name in unscoped])
        runs = self._settings.storage.data_dir / RUNS_FILE
        if self.databases.has_runs(runs):
            await asyncio.to_thread(self._reseal_runs, runs)
        return moved

    def _reseal_runs(self, path: Path) -> None:
        cells, kind, is_moved = self.cells, main_file(), False
        assert cells is not None
        file: FileEngine = self.databases.open_runs(path, self.cells)
        try:
            for table in RUN_TABLES:
                after = before_first(kind, table)
                work = partial(reseal_rows, cells=cells, table=table, file=kind)
                while (after := file.write(partial(work, after=after))) is not None:
                    is_moved = True
            if is_moved:
                file.empty_log()
        finally:
            file.close()


def _state_of(ring: KeyRing) -> object:
    """What changes with the key store; None while it is not there."""
    try:
        return ring.state()
    except KeyUnavailable:
        return None


def provider_of(settings: Settings) -> KeyProvider:
    """The provider of wrapping keys. Raises SettingsError."""
    chosen = settings.encryption
    if chosen.provider == "file":
        if chosen.key_file is None:
            raise SettingsError(
                "encryption.provider is file, and encryption.key_file is not set. Make a key with "
                "`openssl rand -base64 32` in a file of mode 0600, best on another disk, and set its path."
            )
        return file_keys(chosen.key_file)
    if chosen.provider == "env":
        return variable_keys(chosen.key_variable)
    if chosen.provider != "command":
        return installed_keys(chosen.provider)
    if not chosen.key_command:
        raise SettingsError("encryption.provider is command, and encryption.key_command is empty. Set the command.")
    return command_keys(chosen.key_command)


def plain_places(settings: Settings) -> dict[str, str]:
    """What these settings store in plain, by the name it has in `encryption.allow_plain`."""
    places = {}
    if settings.memory.vector_store.enabled and settings.memory.vector_store.backend != "builtin":
        places["conversations"] = "messages of chats and their vectors in ChromaDB"
    if settings.storage.backend == "file":
        places["etienne"] = f"project files below {settings.storage.workspace_root}, and their index"
    if settings.workflows.config_dir is not None:
        places |= plain_discussions(settings)
    return places


def _refuse_plain_places(settings: Settings) -> None:
    untold = {
        name: what for name, what in plain_places(settings).items() if name not in settings.encryption.allow_plain
    }
    if untold:
        raise SettingsError(
            "encryption.mode is fields, and this would stay plain: "
            + "; ".join(f"{name} ({what})" for name, what in untold.items())
            + f". Set encryption.allow_plain to [{', '.join(plain_places(settings))}] to allow that, and keep the "
            "data directory on an encrypted disk."
        )


def _refuse_unusable(ring: KeyRing | None) -> None:
    """Raise SettingsError when the provider gives no key."""
    assert ring is not None
    try:
        ring.kek()
    except KeyUnavailable as exc:
        raise SettingsError(f"encryption.mode is fields, and there is no key. {exc.message}") from exc
