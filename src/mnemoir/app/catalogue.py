"""Keeps the catalogue in step with the files of conversations, which are the truth.

A file is looked at again after somebody had it open, and when its stamp is not the one that was written down: after a
crash, or because another program wrote to it. Stamps of all files are compared once after a start and once a day.
"""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from mnemoir.app.in_thread import in_thread
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.conversations.contents import contents_of, stamp_of
from mnemoir.storage.sql.catalogue import Catalogue, Contents

SESSIONS_FILE = "conversations.db"
_AT_ONCE = 200  # files written down in one transaction


class CatalogueUpkeep:
    """`untouched` keeps a folder where it is, `is_open` tells whether anybody may write to it now.

    `model` is whose vectors of messages count as made; None for those of any.
    """

    def __init__(
        self,
        rows: Catalogue,
        root: Path,
        untouched: Callable[[Path], AbstractAsyncContextManager[None]],
        is_open: Callable[[Path], bool],
        model: str | None = None,
    ) -> None:
        self.rows = rows
        self._root = root
        self._untouched = untouched
        self._is_open = is_open
        self._model = model
        self._changed: dict[Path, str | None] = {}  # and the stamp when it was read last, of what stayed open
        self._has_compared = False
        self._refreshing = asyncio.Lock()

    def note(self, folder: Path) -> None:
        """Somebody may write to the files of the folder from now on."""
        self._changed.setdefault(folder, None)

    async def refresh(self, *, compare: bool = False) -> list[Path]:
        """Look at what may have changed; the folders whose files cannot be read. `compare` looks at all stamps."""
        async with self._refreshing:
            if compare or not self._has_compared:
                self._changed |= dict.fromkeys(await self._differing())
                self._has_compared = True
            waiting, unread = sorted(self._changed), []
            while waiting:
                batch, waiting = waiting[:_AT_ONCE], waiting[_AT_ONCE:]
                unread += await self._look(batch)
            return unread

    async def drop(self, folder: Path) -> None:
        """Leave nothing about a folder that was taken away."""
        async with self._refreshing:
            await self.rows.drop(place_of(folder))

    async def _differing(self) -> set[Path]:
        known = await self.rows.stamps()
        return await in_thread(self._compared, known)

    def _compared(self, known: dict[str, str]) -> set[Path]:
        there = {place_of(file.parent): file for file in self._root.glob(f"*/*/{SESSIONS_FILE}")}
        differing = {file.parent for place, file in there.items() if stamp_of(file, self._model) != known.get(place)}
        return differing | {self._root / place for place in known.keys() - there.keys()}

    async def _look(self, folders: list[Path]) -> list[Path]:
        found: dict[str, Contents | None] = {}
        unread = []
        for folder in folders:
            stamp = self._changed.pop(folder, None)  # whoever opens it from now on notes it again
            try:
                async with self._untouched(folder):
                    file = folder / SESSIONS_FILE
                    if stamp is None or stamp != await in_thread(stamp_of, file, self._model):
                        contents = found[place_of(folder)] = await in_thread(contents_of, file, self._model)
                        stamp = None if contents is None else contents.stamp
            except StorageUnavailable:
                stamp = None
                unread.append(folder)
            if folder in unread or self._is_open(folder):
                self._changed[folder] = stamp
        try:
            await self.rows.put(found)
        except BaseException:
            self._changed |= dict.fromkeys(folders)
            raise
        return unread


def place_of(folder: Path) -> str:
    """What the catalogue calls a user's folder."""
    return f"{folder.parent.name}/{folder.name}"
