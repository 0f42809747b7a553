"""Workflow locks: one holder of a name at a time, across requests and restarts."""

from pathlib import Path
from typing import Protocol


class WorkflowLocks(Protocol):
    """Locks in a database file per user. A lock ends with its run, with its holder's process, or by its expiry."""

    async def acquire(self, database: Path, lock: str, *, run: str) -> bool:
        """Take the lock for a run of a workflow; False while another run, or the same one, holds it.

        Held locks are renewed until they are released. Raises StorageUnavailable.
        """

    async def release(self, database: Path, *, run: str) -> None:
        """Let go of every lock of the run; harmless when it holds none."""

    async def aclose(self) -> None:
        """Release all and close the files."""
