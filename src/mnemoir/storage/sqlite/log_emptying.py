"""Writing back of a file's write-ahead log, and emptying it, without holding writers up.

Once it is empty, deleted content is nowhere on disk. A reader keeps pages in the log, and who waits for it keeps all
writers waiting. So one thread tries for a moment at a time, again and again until the log is empty. It writes back a
long log, too, which a commit would else do before its caller gets an answer.
"""

import threading
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path

import apsw

from mnemoir.storage.sqlite.transactions import storage_errors

PATIENCE_S = 2.0  # of those who ask
_BUSY_MS = 50  # for which a try may keep writers waiting
_AGAIN_S = 0.5
_LONG = 1000  # pages


class LogEmptying:
    """For use by any thread. The thread ends when nothing is left to do."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._entry = threading.Lock()
        self._asked: list[Future[bool]] = []
        self._is_long = False
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()

    @property
    def is_pending(self) -> bool:
        """True while deleted content may be left in the log."""
        return bool(self._asked)

    def ask(self) -> Future[bool]:
        """What is True once all that is in the log now is out of it; StorageUnavailable when the disk fails.

        It is False when the file is closed before that.
        """
        future: Future[bool] = Future()
        with self._entry:
            self._asked.append(future)
            self._begin()
        return future

    def note_length(self, pages: int) -> None:
        """Write the log back when it has got long, so that the next writers begin it anew."""
        if pages >= _LONG:
            with self._entry:
                self._is_long = True
                self._begin()

    def stop(self) -> None:
        """Try no more: the last connection that is closed empties the log. Blocks; may be called again."""
        self._stop.set()
        with self._entry:
            thread = self._thread
        if thread is not None:
            thread.join()

    def _begin(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="sqlite-log", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            with self._entry:
                goal, is_long = [*self._asked], self._is_long
                self._is_long = False
                if self._stop.is_set():
                    for future in goal:
                        future.set_result(False)
                    self._asked.clear()
                if self._stop.is_set() or not (goal or is_long):
                    self._thread = None
                    return
            try:
                with storage_errors(self._path):
                    is_empty = _is_written_back(self._path, empties=bool(goal))
            except Exception as exc:  # noqa: BLE001  # raised again where it was asked for
                for future in self._take(goal):
                    future.set_exception(exc)
            else:
                for future in self._take(goal) if is_empty else ():
                    future.set_result(True)
                if goal and not is_empty:
                    self._stop.wait(_AGAIN_S)

    def _take(self, goal: list[Future[bool]]) -> list[Future[bool]]:
        """Those who asked, for whom nothing is pending any more."""
        with self._entry:
            del self._asked[: len(goal)]
        return goal


def _is_written_back(path: Path, *, empties: bool) -> bool:
    """Write back what nobody reads from the log, and empty it if nothing else is there; whether it is empty."""
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
        connection.set_busy_timeout(_BUSY_MS)
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()  # most of the work, beside writers
        if not empties:
            return False
        ((is_held, *_),) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return not is_held
