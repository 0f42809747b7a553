"""When the messages of a discussion were said."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol


class Timestamps(Protocol):
    """Times by message hash, one file per discussion: `{root}/{discussion}/timestamps.json`.

    A time is text as section 8 of the format writes it: `(Friday, 2026-11-20 16:58:30)`, local time. Raises
    StorageUnavailable; a file that cannot be read as JSON is never overwritten.
    """

    async def load(self, root: Path, discussion: str) -> Mapping[str, str]:
        """What is known; empty for a new discussion."""

    def changing(self, root: Path, discussion: str) -> "AbstractAsyncContextManager[dict[str, str]]":
        """The times to be changed in place; written in one step at the end, if anything changed. One at a time."""
