"""Where saved models lie: in files of the data directory, or in the database that several servers share.

There a model that was saved at one server is in use at the others within a second. Its key is encrypted by a secret
of the pepper, and for one address: with another pepper, or another address, there is no key.
"""

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import orjson
import structlog
from pydantic import SecretStr

from mnemoir.access.access_file import AccessFile
from mnemoir.core import first_use
from mnemoir.core.data_directory import DATABASE_FILE
from mnemoir.core.errors import MnemoirError, StorageUnavailable
from mnemoir.settings import Settings
from mnemoir.settings.saved_model import SavedModel, origin_of, told_of
from mnemoir.settings.saved_role import SavedRole
from mnemoir.storage.databases import Database, DirectoryIdentity, SettingsPlace, databases
from mnemoir.storage.sealing.providers import ListedKeys
from mnemoir.storage.sql.saved_settings import SavedValue, SqlSavedSettings

if TYPE_CHECKING:
    from cryptography import exceptions
else:
    exceptions = first_use.module("cryptography.exceptions")

_AGAIN_S = 1.0
_PURPOSE = "saved models"  # of the secret of the pepper
_log = structlog.get_logger(__name__)


class SavedModels(Protocol):
    """The saved model of each role. Every method but `aclose` blocks and may raise StorageUnavailable."""

    def read(self, role: SavedRole) -> SavedModel | None:
        """What was saved last; None when nothing was. Raises SettingsError for what is damaged."""

    def save(self, role: SavedRole, saved: SavedModel) -> None:
        """Replace it, durably; what was saved before stays when that fails."""

    def forget(self, role: SavedRole) -> None:
        """Remove it, with its key."""

    def follow(self, on_change: Callable[[], None]) -> None:
        """Call it behind each change by another server, in a thread."""

    async def aclose(self) -> None:
        """Close what this opened."""


class ModelFiles:
    """Files of a data directory, which one server has."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir

    def read(self, role: SavedRole) -> SavedModel | None:
        """See the port."""
        return role.file.read(self._data_dir)

    def save(self, role: SavedRole, saved: SavedModel) -> None:
        """See the port."""
        role.file.save(self._data_dir, saved)

    def forget(self, role: SavedRole) -> None:
        """See the port."""
        role.file.forget(self._data_dir)

    def follow(self, on_change: Callable[[], None]) -> None:
        """Nothing: there is no other server."""

    async def aclose(self) -> None:
        """Nothing is open."""


class ModelRows:
    """Rows of a database, by the section of a role; `secret` is that of all its servers. Closes its `tables`."""

    def __init__(self, tables: SettingsPlace, secret: Callable[[], bytes]) -> None:
        self._tables = tables
        self._rows = SqlSavedSettings(tables)
        self._keys = ListedKeys("The pepper", lambda: b64encode(secret()).decode())

    def read(self, role: SavedRole) -> SavedModel | None:
        """See the port."""
        found = self._rows.get(role.section)
        if found is None:
            return None
        model, _ = role.file.model_in(found.value, f"saved_settings of {self._tables.name}")
        return replace(model, key=self._key(role, model, found))

    def save(self, role: SavedRole, saved: SavedModel) -> None:
        """See the port."""
        value = orjson.dumps(told_of(saved)).decode()
        if saved.key is None:
            self._rows.put(role.section, SavedValue(value=value))
            return
        wrapped = self._keys.wrap(saved.key.get_secret_value().encode(), _context(role, saved))
        self._rows.put(role.section, SavedValue(value=value, kek=self._keys.kek, wrapped=wrapped))

    def forget(self, role: SavedRole) -> None:
        """See the port."""
        self._rows.drop(role.section)

    def follow(self, on_change: Callable[[], None]) -> None:
        """See the port; it is called once at first, too."""
        self._tables.follow(on_change)

    async def aclose(self) -> None:
        """Close the tables."""
        await asyncio.to_thread(self._tables.close)

    def _key(self, role: SavedRole, model: SavedModel, found: SavedValue) -> SecretStr | None:
        if found.kek is None or found.wrapped is None:
            return None
        try:
            return SecretStr(self._keys.unwrap(found.kek, found.wrapped, _context(role, model)).decode())
        except (KeyError, exceptions.InvalidTag):
            _log.warning("the key of a saved model is of another pepper or address", role=role.section)
            return None


class Renewal:
    """Has what uses a saved model take another one that was saved elsewhere."""

    def __init__(self, renew: Callable[[], Awaitable[None]]) -> None:
        self._renew = renew
        self._is_due = asyncio.Event()
        self._task = asyncio.create_task(self._run())

    @classmethod
    async def begin(cls, renew: Callable[[], Awaitable[None]], kept: SavedModels) -> "Renewal":
        """Call `renew` behind each change of `kept`, which is closed later than this. Raises StorageUnavailable."""
        renewal, loop = cls(renew), asyncio.get_running_loop()
        try:
            await asyncio.to_thread(kept.follow, partial(_call_in, loop, renewal._is_due.set))
        except BaseException:
            await renewal.aclose()
            raise
        return renewal

    async def aclose(self) -> None:
        """End it."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            await self._is_due.wait()
            self._is_due.clear()
            try:
                await self._renew()
            except StorageUnavailable:  # the next read reports it
                self._is_due.set()
                await asyncio.sleep(_AGAIN_S)
            except MnemoirError as exc:
                _log.warning("a saved model cannot be used", error=exc.message)


def open_saved_models(
    settings: Settings, opener: Database, identity: DirectoryIdentity, access: AccessFile
) -> SavedModels:
    """Open the place that the settings choose. Raises StorageUnavailable. Blocks."""
    place = opener.settings_place(settings.storage.data_dir / DATABASE_FILE, identity)
    if place is None:
        return ModelFiles(settings.storage.data_dir)
    return ModelRows(place, lambda: access.secret_for(_PURPOSE))


@asynccontextmanager
async def saved_models_of(settings: Settings) -> AsyncIterator[SavedModels]:
    """The same for a command beside a server. Raises StorageUnavailable and SettingsError."""
    if settings.storage.dsn is None:
        yield ModelFiles(settings.storage.data_dir)
        return
    opener = databases(settings.storage.dsn)
    identity = DirectoryIdentity(settings.storage.data_dir, settings.memory.conversations_folder)
    async with AsyncExitStack() as opened:
        access = await asyncio.to_thread(AccessFile, settings, identity=identity, opener=opener)
        opened.push_async_callback(access.aclose)
        kept = await asyncio.to_thread(open_saved_models, settings, opener, identity, access)
        opened.push_async_callback(kept.aclose)
        yield kept


def _call_in(loop: asyncio.AbstractEventLoop, work: Callable[[], None]) -> None:
    loop.call_soon_threadsafe(work)


def _context(role: SavedRole, saved: SavedModel) -> bytes:
    return f"{role.section}\n{origin_of(saved.url)}".encode()
