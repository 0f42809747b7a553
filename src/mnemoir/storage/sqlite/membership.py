"""What a database must be to be opened: there, not empty, of its own data directory, and of its own user."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import apsw

from mnemoir.core.data_directory import IDENTITY_FILE, SESSIONS_FILE
from mnemoir.core.errors import StorageDamaged, StorageUnavailable
from mnemoir.storage.disk_files import loss_of
from mnemoir.storage.sql.engine import queries
from mnemoir.storage.sqlite.transactions import storage_errors

_QUERIES = queries("identity")
_BUSY_MS = 5000


@dataclass(frozen=True, slots=True)
class Belonging:
    """The id of the data directory that a database belongs to, and whose it is in there; "" for nobody's."""

    directory: str
    owner: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """A database must be of the `directory` of that id, None for none yet; and there, not empty, if it `is_expected`.

    `name` is the file as `mnemoir doctor --begin-anew` calls it, and `owner` whose it must be.
    """

    name: str
    directory: Callable[[], str | None]
    is_expected: Callable[[], bool]
    owner: str = ""

    def refuse_loss(self, path: Path) -> None:
        """Raise StorageDamaged for a database that must be there and is missing or empty."""
        what = loss_of(path)
        if what is not None and self.is_expected():
            raise self.loss_error(path, what)

    def refuse_bare(self, path: Path, connection: apsw.Connection) -> None:
        """Raise StorageDamaged for a database that must be there and has lost all of its tables."""
        if self.is_expected() and connection.execute("SELECT count(*) FROM sqlite_schema").get == 0:
            raise self.loss_error(path, "is empty")

    def take(self, path: Path, connection: apsw.Connection) -> None:
        """Give a database that need not be there yet to the directory and its owner.

        Raises StorageDamaged for one of another owner, and for one of another directory in the place of one that must
        be there.
        """
        directory, stored = self.directory(), belonging_in(connection)
        if directory is None:
            if stored is not None:
                raise lost_identity_error(path.parent / IDENTITY_FILE, path)
            return
        what = self.difference(stored)
        if what is None:
            return
        if self.is_expected() or self.is_of_another(stored):
            raise self.loss_error(path, what)
        self.give(connection)

    def give(self, connection: apsw.Connection) -> None:
        """Give the database to the directory, if that has an id, and to its owner."""
        if (directory := self.directory()) is not None:
            put_belonging(connection, Belonging(directory, self.owner))

    def is_of_another(self, stored: Belonging | None) -> bool:
        """Whether a database says that it is of another owner."""
        return stored is not None and stored.owner not in ("", self.owner)

    def difference(self, stored: Belonging | None) -> str | None:
        """Why a database is not what it must be, by what it says of itself; None where it is."""
        if stored is None:
            return "belongs to no data directory"
        if stored.directory != self.directory():
            return "belongs to another data directory"
        return None if stored.owner == self.owner else "belongs to another user"

    def loss_in(self, path: Path) -> str | None:
        """Why a file that must be there is lost; None for one that is there, also for one damaged otherwise."""
        what = loss_of(path)
        if what is not None:
            return what
        try:
            return self.difference(read_belonging(path))
        except StorageUnavailable:
            return None  # other checks name what is wrong with it

    def loss_error(self, database: Path | str, what: str) -> StorageDamaged:
        """The error for a database that is lost, which tells the way back; `database` is its file, or its name."""
        return StorageDamaged(
            f"{database} {what} (storage_damaged), so nothing is opened or begun in its place. Put it back, from a "
            "backup if need be; or take the loss as it is: stop the server and run "
            f"`mnemoir doctor --begin-anew {self.name}`."
        )


def lost_identity_error(identity: Path, beside: Path) -> StorageDamaged:
    """The error for an identity that is missing beside a file that a server left."""
    return StorageDamaged(
        f"{identity} is missing, and {beside} is of a data directory that had one (storage_damaged), so nothing is "
        "opened or begun. Put back what is missing, from a backup if need be; or take what is there as it is: stop "
        f"the server and run `mnemoir doctor --begin-anew {IDENTITY_FILE}`."
    )


def put_belonging(connection: apsw.Connection, belonging: Belonging) -> None:
    """Give the database to a data directory and an owner in it."""
    connection.execute(_QUERIES["put_identity"], {"directory": belonging.directory, "owner": belonging.owner})


def belonging_in(connection: apsw.Connection) -> Belonging | None:
    """What the database says of itself; None for one of no data directory."""
    found = connection.execute(_QUERIES["identity"]).fetchone()
    return None if found is None else Belonging(str(found[0]), str(found[1]))


def read_belonging(path: Path) -> Belonging | None:
    """What a database that need not be open says of itself; None without a file. Raises StorageUnavailable."""
    if loss_of(path) is not None:
        return None
    # one of a user's file is writable, as a read-only one would leave a log and its index behind
    is_own = path.name == SESSIONS_FILE
    flags = apsw.SQLITE_OPEN_READWRITE if is_own else apsw.SQLITE_OPEN_READONLY
    with storage_errors(path), closing(apsw.Connection(str(path), flags=flags)) as connection:
        connection.set_busy_timeout(_BUSY_MS)
        return belonging_in(connection) if connection.table_exists(None, "identity") else None
