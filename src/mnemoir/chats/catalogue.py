"""Keeps the catalogue up to date with the conversation files, which are the source of truth.

A file is read again after it was open, and when its stamp differs from the recorded one: after a crash, or because
another program wrote to it. The stamps of all files are compared once after a start and once a day.
"""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from mnemoir.chats.conversation_folders import link_in, place_of
from mnemoir.core.data_directory import SESSIONS_FILE
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.conversations.contents import contents_of, has_settled, stamp_of
from mnemoir.storage.sql.catalogue import Catalogue, Contents
from mnemoir.storage.user_pool import in_thread

_AT_ONCE = 200  # files recorded in one transaction


class CatalogueUpkeep:
    """`keep_folder` keeps a folder from being deleted, `is_open` is True while its files may be written to.

    `model` names the embedding model whose message vectors are counted; None counts those of any.
    """

    def __init__(
        self,
        rows: Catalogue,
        root: Path,
        keep_folder: Callable[[Path], AbstractAsyncContextManager[None]],
        is_open: Callable[[Path], bool],
        model: str | None = None,
    ) -> None:
        self.rows = rows
        self._root = root
        self._keep_folder = keep_folder
        self._is_open = is_open
        self._model = model
        self._changed: dict[Path, str | None] = {}  # with the stamp of the last read, if it stayed open
        self._has_compared = False
        self._refreshing = asyncio.Lock()

    def note(self, folder: Path) -> None:
        """Mark a folder as changed: its files may be written to from now on."""
        self._changed.setdefault(folder, None)

    async def refresh(self, *, compare: bool = False) -> list[Path]:
        """Read what may have changed; return the folders with unreadable files. `compare` checks all stamps."""
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
        """Delete the rows of a folder that was removed."""
        async with self._refreshing:
            await self.rows.drop(place_of(folder))

    async def _differing(self) -> set[Path]:
        known = await self.rows.stamps()
        return await in_thread(self._differences_from, known)

    def _differences_from(self, known: dict[str, str]) -> set[Path]:
        """The folders whose file changed since it was read, and those that were removed."""
        files = self._root.glob(f"*/*/{SESSIONS_FILE}")
        there = {place_of(file.parent): file for file in files if link_in(file.parent) is None}
        differing = {file.parent for place, file in there.items() if stamp_of(file, self._model) != known.get(place)}
        return differing | {self._root / place for place in known.keys() - there.keys()}

    async def _look(self, folders: list[Path]) -> list[Path]:
        found: dict[str, Contents | None] = {}
        unread = []
        for folder in folders:
            stamp = self._changed.pop(folder, None)  # opening it from now on marks it again
            try:
                async with self._keep_folder(folder):
                    file = folder / SESSIONS_FILE
                    if stamp is None or stamp != await in_thread(stamp_of, file, self._model):
                        is_settled = await in_thread(has_settled, file)
                        contents = found[place_of(folder)] = await in_thread(contents_of, file, self._model)
                        stamp = None if contents is None or not is_settled else contents.stamp
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
