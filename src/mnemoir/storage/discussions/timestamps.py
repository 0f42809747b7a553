"""Times of a discussion's messages: `{root}/{discussion}/timestamps.json`, or `{root}/{discussion}_timestamps.json`.

The second place is where WilmerAI kept them in 2025; a file that is only there stays in use there. Other programs
write these files too. So a change is written as a change: under the lock the file is read once more, and only what
was added, altered or taken away is put into it. Members that are no times are kept, and a file that is no JSON object
is left exactly as it is.
"""

import asyncio
import json
import os
import stat
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import orjson

from mnemoir.core.discussion_id import directory_name
from mnemoir.core.errors import StorageUnavailable
from mnemoir.ports.timestamps import Timestamps
from mnemoir.storage.files.atomic_file import read_file, replace_file, take_lock
from mnemoir.storage.files.file_errors import file_errors
from mnemoir.storage.files.workspace import Folder, existing

_NAME = "timestamps.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    folder: Folder
    file: str

    @property
    def name(self) -> str:
        return self.folder.name_of(self.file)


class FileTimestamps:
    """Folders and files are made when the first time is written. Nothing below a root is reached through a link."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[tuple[Path, str], asyncio.Lock] = WeakValueDictionary()

    async def load(self, root: Path, discussion: str) -> Mapping[str, str]:
        """What is known; creates nothing."""
        return await asyncio.to_thread(_load, root, discussion)

    @asynccontextmanager
    async def changing(self, root: Path, discussion: str) -> AsyncIterator[dict[str, str]]:
        """The times to be changed; nothing is written when the body raises, or changes nothing."""
        async with self._locks.setdefault((root, discussion), asyncio.Lock()):
            before = await asyncio.to_thread(_load, root, discussion)
            times = dict(before)
            yield times
            if times != before:
                # a thread that has begun goes on to the end, even when the caller is cancelled
                await asyncio.to_thread(_save, root, discussion, before, times)


def _load(root: Path, discussion: str) -> dict[str, str]:
    place = _place(root, discussion)
    with file_errors(place.name, "read"), place.folder.open() as folder:
        members = {} if folder is None else _members(folder, place)
    return {key: time for key, time in members.items() if isinstance(time, str)}


def _save(root: Path, discussion: str, before: Mapping[str, str], after: Mapping[str, str]) -> None:
    place = _place(root, discussion)
    with file_errors(place.name, "written"), place.folder.open(create=True) as opened:
        folder = existing(opened)
        lock = take_lock(folder, f"{place.file}.lock")
        try:
            members = _merged(_members(folder, place), before, after)
            # four spaces and ASCII, as WilmerAI writes them
            replace_file(folder, place.file, json.dumps(members, indent=4).encode())
        finally:
            os.close(lock)


def _merged(members: Mapping[str, Any], before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, Any]:
    changed = {key: time for key, time in after.items() if before.get(key) != time}
    gone = before.keys() - after.keys()
    return {key: value for key, value in members.items() if key not in gone} | changed


def _members(folder: int, place: _Place) -> dict[str, Any]:  # JSON: other programs put into it what they like
    found = read_file(folder, place.file)
    content = b"" if found is None else found[0].removeprefix(b"\xef\xbb\xbf")
    try:
        members = orjson.loads(content or b"{}")
    except orjson.JSONDecodeError as exc:
        raise _damaged(place, str(exc)) from exc
    if not isinstance(members, dict):
        raise _damaged(place, "it is JSON, but not an object")
    return members


def _damaged(place: _Place, cause: str) -> StorageUnavailable:
    return StorageUnavailable(f"{place.name} is damaged ({cause}) and was left as it is. Repair it or take it away.")


def _place(root: Path, discussion: str) -> _Place:
    """The file to read and to write."""
    name = directory_name(discussion)
    nested = _Place(folder=Folder(root=root, steps=(name,)), file=_NAME)
    flat = _Place(folder=Folder(root=root, steps=()), file=f"{name}_{_NAME}")
    return flat if not _is_there(nested) and _is_there(flat) else nested


def _is_there(place: _Place) -> bool:
    """A folder of that name is another discussion's."""
    with file_errors(place.name, "read"), place.folder.open() as folder:
        if folder is None:
            return False
        try:
            return not stat.S_ISDIR(os.stat(place.file, dir_fd=folder, follow_symlinks=False).st_mode)
        except FileNotFoundError:
            return False


_: type[Timestamps] = FileTimestamps  # checked, never run
