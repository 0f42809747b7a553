"""Where the file of tenants, keys and people lies, which need not be there yet."""

from collections.abc import Callable
from pathlib import Path

from mnemoir.core.errors import StorageDamaged
from mnemoir.storage.disk_files import loss_of
from mnemoir.storage.sql.engine import file_state
from mnemoir.storage.sqlite.directory_identity import DirectoryIdentity
from mnemoir.storage.sqlite.opening import open_access_file
from mnemoir.storage.sqlite.shared_file import SharedFile


class AccessFilePlace:
    """The place of one directory."""

    is_remote = False

    def __init__(self, path: Path, identity: DirectoryIdentity) -> None:
        self.name = str(path)
        self._path = path
        self._identity = identity

    def state(self, *, now: bool = False) -> object | None:
        """What every write by any process changes; None without a file."""
        state = file_state(self._path)
        return None if state[0] is None else state

    def follow(self, on_change: Callable[[], None]) -> None:
        """Nothing."""

    def refuse_loss(self, *, was_open: bool) -> None:
        """Raise StorageDamaged for a file that must be there and is missing, or empty."""
        membership = self._identity.membership(self._path.name)
        must_be = membership.is_expected() or self._path.exists()  # before the look: the first key may come between
        what = loss_of(self._path)
        if what is None:
            return
        if must_be:
            raise membership.loss_error(self._path, what)
        if was_open:
            raise StorageDamaged(
                f"{self._path} {what} (storage_damaged), and this server wrote its audit log there. Put the file "
                "back, from a backup if need be; or take the loss as it is: restart the server."
            )

    def open(self) -> SharedFile:
        """The file; made if there is none."""
        return open_access_file(self._path, self._identity)
