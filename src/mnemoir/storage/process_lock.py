"""The lock that gives one process exclusive use of a database. The kernel releases it when the process ends."""

import os
import socket
from pathlib import Path

from mnemoir.core.clock import now_text
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.file_lock import try_lock

LOCK_FILE = "mnemoir.lock"
_MOST_BYTES = 4096


def is_locked(folder: Path) -> bool:
    """Whether a process holds the lock of the folder. Makes nothing there, and holds it for a moment only."""
    try:
        file = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not try_lock(file)
    finally:
        os.close(file)


class ProcessLock:
    """Held from the moment it is made until `release`."""

    def __init__(self, folder: Path) -> None:
        """Raises StorageUnavailable, naming the holder, when another process holds it; OSError for a bad folder."""
        self._file = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.fchmod(self._file, 0o600)  # regardless of the umask or an earlier copy's mode
            self._take(folder)
        except BaseException:
            os.close(self._file)
            raise

    def release(self) -> None:
        """Release the lock. The file stays: removing it would let two processes lock different files."""
        os.ftruncate(self._file, 0)
        os.close(self._file)

    def _take(self, folder: Path) -> None:
        if not try_lock(self._file):
            holder = os.pread(self._file, _MOST_BYTES, 0).decode("utf-8", "replace").strip()
            raise StorageUnavailable(
                f"The data directory {folder} is in use by another Mnemoir process ({holder or 'just starting'}). "
                "Stop that process, or choose another directory with --data-dir."
            )
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"pid {os.getpid()} on {socket.gethostname()} since {now_text()}\n".encode(), 0)
