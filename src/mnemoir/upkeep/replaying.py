"""Erasures made again in data that were restored from a backup of before them."""

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Protocol, TypeAlias

from mnemoir.core.data_directory import CACHE, RUNS_FILE, STORE_FILE
from mnemoir.settings import Settings
from mnemoir.settings.access import Encryption
from mnemoir.settings.tree import Runs, Storage
from mnemoir.storage.databases import copy_keys, key_store
from mnemoir.storage.sql.data_keys import SqlDataKeys
from mnemoir.storage.tombstones import Tombstones, put_tombstones
from mnemoir.upkeep.opening import Upkeep


class UpkeepParts(Protocol):
    """The parts of a data directory, until they are closed."""

    @property
    def upkeep(self) -> Upkeep:
        """What erases a person."""
        ...

    async def aclose(self) -> None:
        """Close all of them."""
        ...


OpenParts: TypeAlias = Callable[[Settings], Awaitable[UpkeepParts]]


def replay_erasures(
    data_dir: Path, tombstones: Tombstones, made_at: str, encryption: Encryption, open_parts: OpenParts
) -> int:
    """Erase in a data directory of that time who was erased since; how many of a user and project were there.

    Caches and traces of runs go as a whole, for they are made anew. `encryption` tells how encrypted data are opened.
    Blocks; raises StorageUnavailable and SettingsError.
    """
    put_tombstones(data_dir, tombstones)
    if not tombstones.newer_than(made_at):
        return 0
    shutil.rmtree(data_dir / CACHE, ignore_errors=True)
    for ending in ("", "-wal", "-shm"):
        (data_dir / f"{RUNS_FILE}{ending}").unlink(missing_ok=True)
    with _keys_for(data_dir, encryption) as keys:
        return asyncio.run(_erase(data_dir, tombstones, made_at, keys, open_parts))


@contextmanager
def _keys_for(data_dir: Path, given: Encryption) -> Iterator[Encryption]:
    """The settings that open what is encrypted: with the key store in the data, else with a copy of the given one.

    Of a person who came back the given store has a new key, which must stay when they are erased here.
    """
    own, place = data_dir / STORE_FILE, key_store(given.store_file or data_dir / STORE_FILE, given.store_dsn)
    opens = given.model_copy(update={"mode": "off", "store": own if own.exists() else given.store})
    if own.exists() or not place.exists():  # `opens` encrypts nothing
        yield opens
        return
    with tempfile.TemporaryDirectory(prefix=".mnemoir-keys-", dir=data_dir.parent) as folder:
        copy = Path(folder) / own.name
        with closing(place.open()) as keys:
            copy_keys(SqlDataKeys(keys), copy)
        yield opens.model_copy(update={"store": copy})


async def _erase(
    data_dir: Path, tombstones: Tombstones, made_at: str, keys: Encryption, open_parts: OpenParts
) -> int:
    # none but the data directory and its keys: what other settings name is the live server's
    settings = Settings(storage=Storage(data_dir=data_dir), runs=Runs(enabled=False), encryption=keys)
    parts = await open_parts(settings)
    try:
        return await parts.upkeep.subjects.erase_again(tombstones, made_at)
    finally:
        await parts.aclose()
