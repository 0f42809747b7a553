"""Ports of what opens the databases of an installation."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol, TypeVar

from mnemoir.storage.locks.rows import LockFile
from mnemoir.storage.sealing.cells import Cells, OwnCells
from mnemoir.storage.sealing.own_files import SealState
from mnemoir.storage.sql.engine import Engine, FileEngine, Sql
from mnemoir.storage.sql.tables import SealedFile
from mnemoir.storage.sqlite.directory_identity import DirectoryIdentity
from mnemoir.storage.sqlite.membership import Belonging, Membership

T = TypeVar("T")


class MainDatabase(Engine, Protocol):
    """The database of memories and jobs, which this process has alone."""

    @property
    def kind(self) -> str:
        """`sqlite` or `postgres`: whose numbers its rows have."""

    @property
    def warning(self) -> str:
        """What its operator should change, though it works; "" for nothing."""

    async def check_integrity(self) -> list[str]:
        """Its problems, a line each; [] when it is sound. Reads all of it."""

    async def aclose(self) -> None:
        """Finish queued work and close it. May be called again."""


class CountedFile(FileEngine, Protocol):
    """A file that counts what this process writes to it."""

    @property
    def writes(self) -> int:
        """The number of transactions that wrote."""


class AccessPlace(Protocol):
    """Where tenants, keys and people are stored; a file need not be there yet."""

    @property
    def name(self) -> str:
        """What errors call it."""

    @property
    def is_remote(self) -> bool:
        """Whether a read or write may take as long as a network does."""

    def state(self, *, now: bool = False) -> object | None:
        """What every write by any process changes; None for no file. It may be half a second old, but not `now`."""

    def follow(self, on_change: Callable[[], None]) -> None:
        """Call it now, and behind each change by any process, where that `is_remote`; a file has to be looked at."""

    def refuse_loss(self, *, was_open: bool) -> None:
        """Raise StorageDamaged for a file that must be there and is not; so must one that `was_open`."""

    def open(self) -> CountedFile:
        """The database, created if missing. Closing it closes the place."""


class SettingsPlace(FileEngine, Protocol):
    """The tables of what servers over one database save of their settings."""

    def follow(self, on_change: Callable[[], None]) -> None:
        """Call it now, and behind each change by any server, in a thread of the place. Raises StorageUnavailable."""


class Database(Protocol):
    """Opens the databases of a data directory. Every method may raise StorageUnavailable; all but `errors` block.

    `cells` encrypt what users said; None leaves it plain.
    """

    def open_main(
        self, path: Path, cells: Cells | None = None, identity: DirectoryIdentity | None = None
    ) -> MainDatabase:
        """The database of memories and jobs, created if missing; with an `identity` it must be that directory's."""

    def loss_of_main(self, path: Path, identity: DirectoryIdentity) -> str:
        """Why the main database is lost that must be there, as an error message; "" where it is not."""

    def access_place(self, path: Path, identity: DirectoryIdentity) -> AccessPlace:
        """That of tenants, keys and people, which must be that directory's."""

    def settings_place(self, path: Path, identity: DirectoryIdentity) -> SettingsPlace | None:
        """That of saved settings, of that directory; None where they lie in its files."""

    def loss_of_access(self, path: Path, identity: DirectoryIdentity) -> str | None:
        """Why a file of tenants, keys and people is lost that must be there; None where it is there."""

    def open_runs(self, path: Path, cells: Cells | None = None) -> FileEngine:
        """The database of run traces, created if missing; a damaged file is begun anew."""

    def has_runs(self, path: Path) -> bool:
        """Whether there may be run traces; nothing is opened."""

    def open_locks(self, path: Path) -> LockFile:
        """The database of workflow locks, created if missing."""

    def open_own(self, path: Path, kind: SealedFile, cells: OwnCells) -> FileEngine:
        """A database of one user's conversations or their vectors. Raises KeyUnavailable, too."""

    def read(self, path: Path, work: Callable[[Sql], T]) -> T:
        """The result of `work` over one snapshot of the main database, also while another process has it."""

    def read_access(self, path: Path, work: Callable[[Sql], T]) -> T:
        """The same over a database of tenants, keys and people, whatever is wrong with it otherwise."""

    def problems(self, path: Path) -> str:
        """The integrity problems of the main database, also while a server writes to it; "" for none."""

    def refuse_lost_log(self, path: Path) -> None:
        """Raise when the main database lost acknowledged writes. No process may have it."""

    def refuse_loss_of(self, path: Path, membership: Membership) -> None:
        """Raise StorageDamaged for a user's conversations that must be there and are lost, and were not set aside."""

    def seal_state(self, path: Path) -> SealState:
        """Which keys a user's database that need not be open has; one of another program is plain."""

    def give_to_owner(self, path: Path, owner: str) -> None:
        """Give a user's conversations, which are not open, to another owner."""

    def belonging_of(self, path: Path) -> Belonging | None:
        """The data directory and the user that a database says it belongs to; None without one."""

    def set_aside_of(self, path: Path) -> list[str]:
        """The names that damaged databases of this path were given, oldest first. Raises OSError."""

    def errors(self, path: Path, *foreign: type[Exception]) -> AbstractContextManager[None]:
        """Raise StorageUnavailable in place of errors of the driver and of `foreign` ones."""
