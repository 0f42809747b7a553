"""The store of the times at which the messages of a discussion were sent."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol


class Timestamps(Protocol):
    """Times by message hash, one file per discussion: `{root}/{discussion}/timestamps.json`.

    A time is text in the form of section 8 of the format: `(Friday, 2026-11-20 16:58:30)`, local time. Both methods
    raise StorageUnavailable; a file that is not valid JSON is never overwritten.
    """

    async def load(self, root: Path, discussion: str) -> Mapping[str, str]:
        """The stored times; empty for a new discussion."""

    def changing(self, root: Path, discussion: str) -> "AbstractAsyncContextManager[dict[str, str]]":
        """Give the times for changing in place; changes are written atomically at the end. One caller at a time."""
