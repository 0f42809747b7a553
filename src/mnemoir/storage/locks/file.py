"""Leases as small files of a directory, for the processes of one machine, or of several that share the directory.

A file names the holder's secret and when the lease ends, and is read and changed only under a lock of the whole
directory. A file that cannot be read is a lease that has ended: whoever wrote it died over it. Leases are not synced
to disk, as no holder outlives the machine.
"""

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import orjson

from mnemoir.core.atomic_file import read_file, remove_file
from mnemoir.ports.locks import TTL_S, WAIT_S, Lock, LockToken
from mnemoir.storage.file_lock import folder_locked
from mnemoir.storage.files.file_errors import file_errors
from mnemoir.storage.files.workspace import Folder, existing
from mnemoir.storage.locks.patience import patiently

_WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_PRIVATE_FILE = 0o600


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lease:
    secret: str
    until: float  # seconds since 1970, so that it holds for other machines and after a restart
    ttl: float

    def is_live(self, now: float) -> bool:
        """A lease that lasts longer than it ever could was written before the clock was set back, and is over."""
        return now < self.until <= now + self.ttl


class FileLock:
    """The directory is made with the first lease; `~` is the home directory. `clock` tells seconds since 1970."""

    def __init__(self, directory: str | Path, clock: Callable[[], float] = time.time) -> None:
        self._directory = Path(directory).expanduser()
        self._clock = clock

    def acquire(self, key: str, ttl: float = TTL_S, wait: float = WAIT_S) -> LockToken | None:
        """Take the lease of `key`; None when others kept it for all of `wait`."""
        return patiently(key, lambda token: self._take(token, ttl), wait)

    def renew(self, token: LockToken, ttl: float = TTL_S) -> bool:
        """Let it last from now; False when it has ended."""
        with self._opened(token.key) as (folder, name):
            if not self._is_held(folder, name, token):
                return False
            self._write(folder, name, token, ttl)
            return True

    def release(self, token: LockToken) -> bool:
        """Give it back and take its file away; False when it had ended."""
        with self._opened(token.key) as (folder, name):
            if not self._is_held(folder, name, token):
                return False
            remove_file(folder, name)
            return True

    def _take(self, token: LockToken, ttl: float) -> bool:
        with self._opened(token.key) as (folder, name):
            lease = _read(folder, name)
            if lease is not None and lease.is_live(self._clock()):
                return False
            self._write(folder, name, token, ttl)
            return True

    def _is_held(self, folder: int, name: str, token: LockToken) -> bool:
        lease = _read(folder, name)
        return lease is not None and lease.secret == token.secret and lease.is_live(self._clock())

    def _write(self, folder: int, name: str, token: LockToken, ttl: float) -> None:
        lease = {"key": token.key, "secret": token.secret, "until": self._clock() + ttl, "ttl": ttl}
        with open(os.open(name, _WRITE, _PRIVATE_FILE, dir_fd=folder), "wb") as file:
            file.write(orjson.dumps(lease))

    @contextmanager
    def _opened(self, key: str) -> Iterator[tuple[int, str]]:
        name = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest() + ".lease"
        with (
            file_errors(f"The lock of {key}", "used"),
            Folder(root=self._directory, steps=()).open(create=True) as folder,
            folder_locked(existing(folder)),
        ):
            yield existing(folder), name


def _read(folder: int, name: str) -> _Lease | None:
    found = read_file(folder, name)
    if found is None:
        return None
    try:
        written = orjson.loads(found[0])
        return _Lease(secret=str(written["secret"]), until=float(written["until"]), ttl=float(written["ttl"]))
    except (ValueError, TypeError, KeyError):
        return None


_: type[Lock] = FileLock  # checked, never run
