"""What a database must be to be opened: there, not empty, and of its own data directory."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import apsw

from mnemoir.core.errors import StorageDamaged
from mnemoir.storage.sql.engine import queries

_QUERIES = queries("identity")


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """A database must be of the `directory` of that id, None for none yet; and there, not empty, if it `is_expected`.

    `name` is the file as `mnemoir doctor --begin-anew` calls it.
    """

    name: str
    directory: Callable[[], str | None]
    is_expected: Callable[[], bool]

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
        """Give a database that need not be there yet to the directory.

        Raises StorageDamaged for one of another directory in the place of one that must be there.
        """
        directory, stored = self.directory(), directory_in(connection)
        if directory == stored:
            return
        if directory is None:
            raise self.loss_error(path, "belongs to a data directory whose identity.json is missing")
        if self.is_expected():
            what = "belongs to no data directory" if stored is None else "belongs to another data directory"
            raise self.loss_error(path, what)
        put_directory(connection, directory)

    def loss_error(self, path: Path, what: str) -> StorageDamaged:
        """The error for a database that is lost, which tells the way back."""
        return StorageDamaged(
            f"{path} {what} (storage_damaged), so nothing is opened or begun in its place. Put the file back, from a "
            "backup if need be; or take the loss as it is: stop the server and run "
            f"`mnemoir doctor --begin-anew {self.name}`."
        )


def loss_of(path: Path) -> str | None:
    """Why a database is lost: it `is missing` or `is empty`; None for one with any bytes. Raises OSError."""
    try:
        return None if path.stat().st_size else "is empty"
    except (FileNotFoundError, NotADirectoryError):
        return "is missing"


def put_directory(connection: apsw.Connection, directory: str) -> None:
    """Give the database to the data directory of that id."""
    connection.execute(_QUERIES["put_directory"], {"directory": directory})


def directory_in(connection: apsw.Connection) -> str | None:
    """The id of the data directory that the database belongs to; None for none."""
    found = connection.execute(_QUERIES["directory"]).get
    return None if found is None else str(found)
