"""Backups checked, and restored into a new data directory, in which who was erased since is erased again."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from mnemoir.core.data_directory import STORE_FILE, TOMBSTONES_FILE
from mnemoir.core.errors import InvalidRequest, StorageUnavailable
from mnemoir.settings.access import Encryption
from mnemoir.storage.backups.checks import problems_of, restorable
from mnemoir.storage.backups.copies import copy_file
from mnemoir.storage.backups.manifest import DATA_FOLDER, Manifest
from mnemoir.storage.backups.sealing import BackupKey, file_of, is_sealed, open_backup
from mnemoir.storage.backups.sealing import made_at as made_at_of
from mnemoir.storage.backups.whole_folder import whole_folder
from mnemoir.storage.tombstones import Tombstones, parsed_tombstones, read_tombstones
from mnemoir.upkeep.backup_list import is_listed
from mnemoir.upkeep.backups import kept_in, newest_in
from mnemoir.upkeep.losses import expect_contents
from mnemoir.upkeep.replaying import OpenParts, replay_erasures


def problems_in(backup: Path, key: BackupKey | None = None) -> tuple[Path, list[str]]:
    """The backup, in a folder of backups the newest one, and a line for each of its problems.

    Raises InvalidRequest for an encrypted one without its key.
    """
    path = newest_in(backup) or backup
    try:
        with _plain(path, key, Path(tempfile.gettempdir())) as plain:
            return path, [problem.replace(str(plain), str(path)) for problem in problems_of(plain)]
    except StorageUnavailable as exc:
        return path, [exc.message]


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """The data directory that was made, the list of the backup, and how many were erased from it again."""

    path: Path
    manifest: Manifest
    erased: int


def restore_backup(
    backup: Path,
    data_dir: Path,
    key: BackupKey | None = None,
    *,
    open_parts: OpenParts,
    lost: Path | None = None,
    live: Path | None = None,
    encryption: Encryption | None = None,
) -> Restored:
    """Make a data directory from a backup, whole or not at all; it must be missing or empty.

    What was restored must be there from then on, and nothing else.
    Who was erased since the backup was made is erased again: as later backups beside it tell, and `lost`, what is
    left of the data directory that it was made of; or `live`, a data directory, if it was made of that one.
    `open_parts` opens the new directory for that.
    For that, `encryption` tells where the keys of encrypted data are; by default their store is in `lost` or `live`.
    Raises InvalidRequest, StorageUnavailable and SettingsError.
    """
    backup, data_dir = (newest_in(backup) or backup).resolve(), data_dir.resolve()
    if data_dir.exists() and (not data_dir.is_dir() or any(data_dir.iterdir())):
        raise InvalidRequest(f"{data_dir} is not empty, so it was left as it is. Name a new directory.")
    if backup in (data_dir, *data_dir.parents):
        raise InvalidRequest(f"{data_dir} is in the backup. Name a directory elsewhere.")
    place = next(folder for folder in data_dir.parents if folder.exists())
    with _plain(backup, key, place) as plain:
        manifest, data = restorable(plain), plain / DATA_FOLDER
        erasures = _erasures_since(backup, key, manifest.made_at) + read_tombstones(data)
        if lost is not None:
            erasures += read_tombstones(lost)
        if live is not None and is_listed(live, manifest.made_at):
            erasures += read_tombstones(live)
        keys = encryption or Encryption()
        stores = [folder / STORE_FILE for folder in (lost, live) if folder is not None]
        if keys.store is None and stores:
            keys = keys.model_copy(update={"store": next(filter(Path.exists, stores), stores[-1])})
        with whole_folder(data_dir) as unfinished:
            for entry in manifest.files:
                copied = copy_file(data, entry.path, unfinished)
                if copied is None or copied.sha256 != entry.sha256:
                    raise StorageUnavailable(f"{data / entry.path} changed while it was read. Try again.")
            expect_contents(unfinished)
            erased = replay_erasures(unfinished, erasures, manifest.made_at, keys, open_parts)
    return Restored(path=data_dir, manifest=manifest, erased=erased)


@contextmanager
def _plain(backup: Path, key: BackupKey | None, place: Path) -> Iterator[Path]:
    """The backup; an encrypted one in a private folder in `place`, which goes at the end. Raises InvalidRequest."""
    if not is_sealed(backup):
        yield backup
        return
    if key is None:
        raise InvalidRequest(f"{backup} is encrypted. Name the file of its key with --key-file.")
    with tempfile.TemporaryDirectory(prefix=".mnemoir-opened-", dir=place) as opened:
        open_backup(backup, Path(opened), key)
        yield Path(opened)


def _erasures_since(backup: Path, key: BackupKey | None, made_at: str) -> Tombstones:
    """What later backups beside this one tell of erasures; those that cannot be read tell none."""
    found = Tombstones()
    for other in kept_in(backup.parent):
        with suppress(StorageUnavailable):
            if made_at_of(other) <= made_at:
                continue
            if not is_sealed(other):
                found += read_tombstones(other / DATA_FOLDER)
            elif key is not None and (content := file_of(other, TOMBSTONES_FILE, key)) is not None:
                found += parsed_tombstones(content, other)
    return found
