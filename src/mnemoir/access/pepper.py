"""The pepper of all hashes of a data directory: a setting, or a file of mode 0600 that is made with the first key."""

from mnemoir.core.api_keys import new_pepper
from mnemoir.core.atomic_file import replacing
from mnemoir.core.data_directory import PEPPER_FILE
from mnemoir.core.errors import StorageUnavailable
from mnemoir.settings import Settings
from mnemoir.storage.disk_files import hold_folder_lock, prepare_folder


class Pepper:
    """Read once, and kept. Blocks; raises StorageUnavailable."""

    def __init__(self, settings: Settings) -> None:
        self._path = settings.storage.data_dir / PEPPER_FILE
        given = settings.security.pepper
        self._bytes: bytes | None = None if given is None else given.get_secret_value().encode()
        self.place = str(self._path) if given is None else "security.pepper"

    @property
    def is_known(self) -> bool:
        """Whether it was read before, or is a setting."""
        return self._bytes is not None

    def read(self) -> bytes:
        """The pepper, which must be there."""
        if self._bytes is None:
            try:
                self._bytes = self._path.read_bytes()
            except OSError as exc:
                raise StorageUnavailable(
                    f"{self._path} cannot be read ({exc.strerror}), and without it no key is recognised. "
                    "Put it back from a backup, or set security.pepper."
                ) from exc
            if not self._bytes:
                self._bytes = None
                raise StorageUnavailable(
                    f"{self._path} is empty, and without it no key is recognised. Put it back from a backup, or set "
                    "security.pepper."
                )
        return self._bytes

    def read_or_create(self) -> bytes:
        """The pepper; a new one where there is none."""
        if self._bytes is None:
            folder = self._path.parent
            for each in (folder.parent, folder):
                prepare_folder(each)
            with hold_folder_lock(folder):
                if not self._path.exists():
                    with replacing(self._path) as file:
                        file.write(new_pepper())
        return self.read()
