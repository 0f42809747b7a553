"""The files with workflow locks: one for each user of a config tree, named as its format has it."""

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path

from mnemoir.core.data_directory import LOCK_FILES
from mnemoir.workflows.config.tree import UserTree
from mnemoir.workflows.discussion_files import own_directory
from mnemoir.workflows.locks import WorkflowLocks


def lock_folder(user: UserTree | None, data_dir: Path, directory: Path | None) -> Path:
    """The folder of a user's locks: `directory` of the settings, else what the user's file names, else `data_dir`."""
    if directory is not None:
        return directory
    return data_dir if user is None else own_directory(user.settings.lock_directory, user.tree.public, data_dir)


def lock_file(folder: Path, user: UserTree | None) -> Path:
    """The file of a user's locks in that folder."""
    return folder / LOCK_FILES.replace("*", "default" if user is None else user.name)


class LockFiles:
    """The files of all users. `users` gives those of the served tree; None is who chats without a tree."""

    def __init__(
        self,
        locks: WorkflowLocks,
        users: Callable[[], Iterable[UserTree | None]],
        data_dir: Path,
        directory: Path | None,
    ) -> None:
        self._locks = locks
        self._users = users
        self._data_dir = data_dir
        self._directory = directory

    async def wipe(self) -> None:
        """Leave no byte of ended locks, whose names hold users and discussions. Raises StorageUnavailable."""
        for file in await asyncio.to_thread(self._files):
            await self._locks.wipe(file)

    def _files(self) -> list[Path]:
        folders = {lock_folder(user, self._data_dir, self._directory) for user in self._users()}
        found = {file for folder in {*folders, self._data_dir} for file in folder.glob(LOCK_FILES)}
        return sorted(file for file in found if not file.is_symlink())
