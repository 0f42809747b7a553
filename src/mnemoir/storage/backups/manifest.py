"""The list of a backup's files, `backup.json`. It is written last: a folder without it is no whole backup."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from mnemoir.core.atomic_file import replacing
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.sqlite.transactions import storage_errors

MANIFEST_FILE = "backup.json"
DATA_FOLDER = "data"
VERSION = 1
ENCRYPTED_VERSION = 2  # programs that know 1 alone say that a newer one made it


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEntry:
    """A file of a backup; `path` has slashes and is below `data`."""

    path: str
    size_bytes: int
    sha256: str
    is_database: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a backup holds. `program` is the version that made it, `left_out` a line for each thing that it lacks."""

    version: int = VERSION
    made_at: str
    program: str
    has_keys: bool
    counts: dict[str, int]
    left_out: list[str]
    files: list[FileEntry]

    @property
    def size_bytes(self) -> int:
        """Of all files together."""
        return sum(entry.size_bytes for entry in self.files)

    @staticmethod
    def from_bytes(content: bytes, backup: Path) -> "Manifest":
        """The list of a backup in the bytes of its file. Raises StorageUnavailable for one that cannot be used."""
        path = backup / MANIFEST_FILE
        try:
            members = json.loads(content)
        except ValueError as exc:
            raise _damage_error(path) from exc
        version = members.get("version") if isinstance(members, dict) else None
        if version == ENCRYPTED_VERSION and "encryption" in members:
            raise StorageUnavailable(f"{backup} is encrypted. Name the file of its key with --key-file.")
        if isinstance(version, int) and version > VERSION:
            raise StorageUnavailable(f"{backup} was made by a newer Mnemoir. Use the newer program.")
        try:
            return _ADAPTER.validate_python(members, strict=False)
        except ValidationError as exc:
            raise _damage_error(path) from exc


_ADAPTER = TypeAdapter(Manifest)


def write_manifest(backup: Path, manifest: Manifest) -> None:
    """Write it durably. Raises OSError."""
    with replacing(backup / MANIFEST_FILE) as file:
        file.write(json.dumps(asdict(manifest), indent=1).encode())


def read_manifest(backup: Path) -> Manifest:
    """The list of a whole backup. Raises StorageUnavailable where there is none, or none that can be used."""
    path = backup / MANIFEST_FILE
    try:
        with storage_errors(backup, NotADirectoryError, PermissionError):
            content = path.read_bytes()
    except FileNotFoundError:
        raise StorageUnavailable(
            f"{backup} is no whole backup: it has no {MANIFEST_FILE}, which is written last. Name another one."
        ) from None
    except OSError as exc:
        raise _damage_error(path) from exc
    return Manifest.from_bytes(content, backup)


def _damage_error(path: Path) -> StorageUnavailable:
    return StorageUnavailable(f"{path} is damaged, so nobody knows what belongs into the backup. Use another one.")
