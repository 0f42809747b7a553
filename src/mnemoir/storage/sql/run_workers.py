"""Which stores of runs still work, so that the runs of those that are gone are ended, and no others.

Several programs may write to one database. Each run names its worker, a store that is open. That works while the file
that it holds is locked; where the file is not seen, as on another machine, for a while after it was last heard of.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from secrets import token_hex

from mnemoir.storage.disk_files import file_errors
from mnemoir.storage.held_files import HeldFiles
from mnemoir.storage.sql.engine import Sql, queries
from mnemoir.storage.sql.rows import as_json

BEAT_S = 15.0  # in which a worker with runs under way is heard of again
_LEASE_S = 60.0  # for which that counts
_QUERIES = queries("runs/runs")
_LOST = "How the run ended was not written down: the server was stopped, or could not write."
_NEVER = float("-inf")


class RunWorkers:
    """The workers as one of them sees them. `path` is that of their file, or where it would be.

    `now` is seconds since 1970, for a database without a clock of its own. Raises StorageUnavailable.
    """

    def __init__(self, path: Path) -> None:
        self.own = token_hex(16)
        self._path = path
        self._holds = HeldFiles(path)
        self._heard_of_at = _NEVER

    def note_own(self, sql: Sql, now: float) -> None:
        """Note that this one works, when that is due."""
        at = time.monotonic()
        if at - self._heard_of_at < BEAT_S:
            return
        with file_errors(self._path):
            self._holds.hold(self.own)
        sql.run(_QUERIES["note_worker"], worker=self.own, now=now, until_s=_LEASE_S)
        self._heard_of_at = at

    def note_failure(self) -> None:
        """What was noted last may not have been stored."""
        self._heard_of_at = min(self._heard_of_at, time.monotonic() - BEAT_S)

    def end_lost(self, sql: Sql, now: float, under_way: Sequence[str] | None = None) -> None:
        """End the runs of workers that are gone; of this one all but those `under_way`, unless that is None."""
        others = [row for row in sql.rows(_QUERIES["running_workers"], now=now) if row[0] != self.own]
        with file_errors(self._path):
            gone = [name for name, is_heard_of in others if not self._is_working(name, is_heard_of)]
            self._holds.remove_left()
        if gone or under_way is not None:
            own = "" if under_way is None else self.own
            listed = {"gone": as_json(gone), "under_way": as_json(list(under_way or ()))}
            sql.run(_QUERIES["end_lost_runs"], lost=_LOST, worker=own, **listed)
        sql.run(_QUERIES["drop_workers"], worker="", now=now)

    def leave(self, sql: Sql, now: float) -> None:
        """End what this one has under way, and be gone for others."""
        if self._heard_of_at > _NEVER:
            self.end_lost(sql, now, ())
            sql.run(_QUERIES["drop_workers"], worker=self.own, now=now)

    def let_go(self) -> None:
        """Remove the file of this one."""
        with file_errors(self._path):
            self._holds.let_go(self.own)

    def _is_working(self, name: str, is_heard_of: bool) -> bool:
        is_held = self._holds.is_held(name)
        return is_heard_of if is_held is None else is_held
