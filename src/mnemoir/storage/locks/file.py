"""Leases as small files of a directory, for the processes of one machine, or of several that share the directory.

A file holds the holder's secret and the end of the lease. It is read and changed only under a lock of the whole
directory. An unreadable file counts as an ended lease, because its writer died while writing. Leases are not synced
to disk, because no holder survives a crash of the machine.
"""

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import orjson

from mnemoir.core.atomic_file import read_file, remove_file
from mnemoir.storage.file_lock import hold_folder_lock
from mnemoir.storage.files.workspace import Folder, existing, file_errors
from mnemoir.storage.locks.stored import Slot, StoredLease, StoredLeases

_WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_PRIVATE_FILE = 0o600


class FileLock(StoredLeases):
    """Leases in one directory, created with the first lease; `~` is the home directory.

    `clock` gives seconds since 1970, so that a lease is valid on other machines and after a restart.
    """

    def __init__(self, directory: str | Path, clock: Callable[[], float] = time.time) -> None:
        super().__init__(self._slot, clock)
        self._directory = Path(directory).expanduser()

    @contextmanager
    def _slot(self, key: str) -> Iterator[Slot]:
        name = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest() + ".lease"
        with (
            file_errors(f"The lock of {key}", "used"),
            Folder(root=self._directory, steps=()).open(create=True) as opened,
            hold_folder_lock(folder := existing(opened)),
        ):
            slot = Slot(before := _read(folder, name))
            yield slot
            if slot.lease is None and before is not None:
                remove_file(folder, name)
            elif slot.lease is not None and slot.lease != before:
                _write(folder, name, key, slot.lease)


def _write(folder: int, name: str, key: str, stored: StoredLease) -> None:
    with open(os.open(name, _WRITE, _PRIVATE_FILE, dir_fd=folder), "wb") as file:
        file.write(orjson.dumps({"key": key, **asdict(stored)}))


def _read(folder: int, name: str) -> StoredLease | None:
    """The stored lease; None when it is missing or unreadable."""
    found = read_file(folder, name)
    if found is None:
        return None
    try:
        written = orjson.loads(found[0])
        return StoredLease(
            secret=str(written["secret"]),
            fence=int(written["fence"]),
            until=float(written["until"]),
            ttl=float(written["ttl"]),
        )
    except (ValueError, TypeError, KeyError):
        return None
