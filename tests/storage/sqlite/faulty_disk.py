"""A disk that can be told to fail, between the database and the real one: a VFS of SQLite.

It counts the writes and syncs of our files and notes them in order; from the `fail_at`-th on, each gives `error`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import apsw

REAL = apsw.vfs_names()[0]


@dataclass
class Disk:
    """What happened to the files, and what is to go wrong."""

    error: type[apsw.Error] = apsw.IOError
    fail_at: int = 0  # 0 is never
    calls: list[str] = field(default_factory=list)

    def arm(self, fail_at: int, error: type[apsw.Error]) -> None:
        self.calls.clear()
        self.fail_at, self.error = fail_at, error

    def disarm(self) -> bool:
        """Whether anything failed."""
        at, self.fail_at = self.fail_at, 0
        return len(self.calls) >= at

    @contextmanager
    def noting(self) -> Iterator[list[str]]:
        """What happens to the files inside, none of which fails; the list is filled at the end."""
        calls: list[str] = []
        self.arm(0, apsw.IOError)
        yield calls
        calls += self.calls

    def pass_through(self, what: str) -> None:
        self.calls.append(what)
        if self.fail_at and len(self.calls) >= self.fail_at:
            raise self.error(f"the disk failed at {what}")


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name, flags: list[int]) -> None:
        super().__init__(REAL, name, flags)
        self._disk = disk
        path = name.filename() if isinstance(name, apsw.URIFilename) else name or "temporary file"
        self._name = path.rsplit("/", 1)[-1]

    def xWrite(self, data, offset):
        self._disk.pass_through(f"write {self._name}")
        super().xWrite(data, offset)

    def xSync(self, flags):
        self._disk.pass_through(f"sync {self._name}")
        super().xSync(flags)

    def xTruncate(self, size):
        self._disk.pass_through(f"truncate {self._name}")
        super().xTruncate(size)


class _Vfs(apsw.VFS):
    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        super().__init__(
            "faulty", REAL, makedefault=True, exclude={"xSetSystemCall", "xGetSystemCall", "xNextSystemCall"}
        )

    def xOpen(self, name, flags):
        return _File(self._disk, name, flags)


@contextmanager
def faulty_disk() -> Iterator[Disk]:
    """All databases opened inside use it."""
    disk = Disk()
    vfs = _Vfs(disk)
    try:
        yield disk
    finally:
        apsw.set_default_vfs(REAL)
        vfs.unregister()
