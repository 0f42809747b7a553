"""Erasures made again in data that were restored from a backup of before them."""

import asyncio
import shutil
from pathlib import Path

from mnemoir.app.parts import CACHE, open_parts
from mnemoir.app.workflows import RUNS_FILE
from mnemoir.settings import Settings
from mnemoir.settings.tree import Runs, Storage
from mnemoir.storage.tombstones import Tombstones, put_tombstones


def replay_erasures(data_dir: Path, tombstones: Tombstones, made_at: str) -> int:
    """Erase in a data directory of that time who was erased since; how many of a user and project were there.

    Caches and traces of runs go as a whole, for they are made anew. Blocks; raises StorageUnavailable.
    """
    put_tombstones(data_dir, tombstones)
    if not tombstones.newer_than(made_at):
        return 0
    shutil.rmtree(data_dir / CACHE, ignore_errors=True)
    for ending in ("", "-wal", "-shm"):
        (data_dir / f"{RUNS_FILE}{ending}").unlink(missing_ok=True)
    return asyncio.run(_erase(data_dir, tombstones, made_at))


async def _erase(data_dir: Path, tombstones: Tombstones, made_at: str) -> int:
    # none but the data directory: what other settings name is the live server's
    settings = Settings(storage=Storage(data_dir=data_dir), runs=Runs(enabled=False))
    parts = await open_parts(settings)
    try:
        return await parts.subjects.erase_again(tombstones, made_at)
    finally:
        await parts.aclose()
