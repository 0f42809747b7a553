"""Times of a discussion's messages: `{root}/{discussion}/timestamps.json`, or `{root}/{discussion}_timestamps.json`.

The second place is that of WilmerAI in 2025; a file that exists only there stays in use. Other programs write these
files too. So a change is written as a difference: under the lock the file is read again, and only added, altered and
removed times are applied to it. Members that are no times are kept, and a file that is no JSON object is left exactly
as it is.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from mnemoir.core.discussions import Discussion
from mnemoir.core.keyed_lock import KeyedLock
from mnemoir.ports.node_services import Timestamps
from mnemoir.storage.discussions.places import PlacedFile, file_at, file_of, places


class FileTimestamps:
    """Folders and files are created when the first time is written. No link below a root is followed."""

    def __init__(self) -> None:
        self._one_by_one = KeyedLock()

    async def load(self, discussion: Discussion) -> Mapping[str, str]:
        """The stored times; creates nothing."""
        return await asyncio.to_thread(_load, discussion)

    @asynccontextmanager
    async def changing(self, discussion: Discussion) -> AsyncIterator[dict[str, str]]:
        """The times, to be changed in the body; nothing is written when it raises, or changes nothing."""
        async with self._one_by_one.hold((discussion.root, discussion.id)):
            before = await asyncio.to_thread(_load, discussion)
            times = dict(before)
            yield times
            if times != before:
                # a running thread finishes even when the caller is cancelled
                await asyncio.to_thread(_save, discussion, before, times)


def _load(discussion: Discussion) -> dict[str, str]:
    return {key: time for key, time in _file(discussion).members().items() if isinstance(time, str)}


def _save(discussion: Discussion, before: Mapping[str, str], after: Mapping[str, str]) -> None:
    file = _file(discussion)
    with file.hold_lock():
        file.change(lambda content: _content(_merged_times(file.members_of(content), before, after)))


def _content(members: Mapping[str, Any]) -> bytes:
    return json.dumps(members, indent=4).encode()  # four spaces and ASCII, as WilmerAI writes them


def _merged_times(members: Mapping[str, Any], before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, Any]:
    changed = {key: time for key, time in after.items() if before.get(key) != time}
    gone = before.keys() - after.keys()
    return {key: value for key, value in members.items() if key not in gone} | changed


def _file(discussion: Discussion) -> PlacedFile:
    """The existing file, or the one to create."""
    first, *_ = places(discussion.file_name, "times", discussion.client)
    return file_of(discussion, "times") or file_at(discussion.root, first, discussion.client)


_: type[Timestamps] = FileTimestamps  # checked, never run
