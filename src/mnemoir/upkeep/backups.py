"""Backups of a whole data directory, made also while a server runs.

Nothing that was acknowledged before a backup began may be missing in it, and its files must fit together. So what
refers to other things is copied before them: jobs before what they make, messages before their attachments. Holdings
declare their files with that order, and how they are copied.
"""

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from mnemoir import __version__
from mnemoir.core.atomic_file import sync_folder
from mnemoir.core.clock import now_text, utc_now
from mnemoir.core.data_directory import DATABASE_FILE, STORE_FILE
from mnemoir.core.errors import InvalidRequest, NotFound, StorageDamaged, StorageUnavailable
from mnemoir.settings import Settings
from mnemoir.storage.backups.checks import counts_of
from mnemoir.storage.backups.contents import is_database
from mnemoir.storage.backups.copies import digest_of
from mnemoir.storage.backups.copying import Copying
from mnemoir.storage.backups.manifest import (
    DATA_FOLDER,
    MANIFEST_FILE,
    FileEntry,
    Manifest,
    read_manifest,
    write_manifest,
)
from mnemoir.storage.backups.sealing import BackupKey, is_sealed, seal_backup
from mnemoir.storage.backups.staging import STAGING, staging_in
from mnemoir.storage.backups.whole_folder import alone_in, whole_folder
from mnemoir.storage.databases import embedded
from mnemoir.storage.disk_files import beside, file_errors
from mnemoir.storage.holdings import declared_files
from mnemoir.storage.process_lock import ProcessLock
from mnemoir.trees.served import folder_of_conversations, place_of
from mnemoir.upkeep.backup_list import KnownBackup, note_backup
from mnemoir.upkeep.losses import losses_in

_NAME = "%Y%m%dT%H%M%SZ"
_NAMED = re.compile(r"\d{8}T\d{6}Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What goes into a backup besides the data themselves: keys, and what is made anew (caches and traces)."""

    keys: bool = False
    all: bool = False


def create_backup(
    settings: Settings, target: Path, choice: Choice, key: BackupKey | None = None
) -> tuple[Path, Manifest]:
    """Make a backup at `target`, in place of an older one; its path and list. With a `key` it is encrypted.

    Raises InvalidRequest, NotFound, StorageUnavailable; an older backup stays then.
    """
    target = _apart(settings, target)
    if target.exists() and not _is_backup(target) and (not target.is_dir() or any(target.iterdir())):
        raise InvalidRequest(f"{target} exists and is no backup, so it was left as it is. Name a new folder.")
    return target, _write_backup(settings, target, choice, key=key)


def create_kept_backup(
    settings: Settings, target: Path, choice: Choice, most: int, key: BackupKey | None = None
) -> tuple[Path, Manifest]:
    """Make a backup in a folder of backups, named after the time in UTC, and remove all but the `most` newest.

    Files that are as in the backup before share its disk space. Raises as `create_backup` does.
    """
    target = _apart(settings, target)
    if target.exists():
        strangers = [] if target.is_dir() else [target.name]
        strangers += [] if strangers else [entry.name for entry in target.iterdir() if not _is_kept(entry)]
        if strangers:
            raise InvalidRequest(
                f"{target} holds something else than backups ({strangers[0]}), so it was left as it is. Name a "
                "folder for backups alone."
            )
    path = target / utc_now().strftime(_NAME)
    former = newest_in(target)
    made = _write_backup(settings, path, choice, former, key=key, keep=most)
    with file_errors(target), alone_in(target) as is_alone:
        if is_alone:
            _remove_old(target, path, most)
    return path, made


def newest_in(folder: Path) -> Path | None:
    """The newest backup in a folder of backups; None without any."""
    return next(reversed(kept_in(folder)), None)


def _apart(settings: Settings, target: Path) -> Path:
    target, data = target.resolve(), settings.storage.data_dir.resolve()
    if not data.is_dir():
        raise NotFound(f"There is no data directory {data}. Name another one with --data-dir.")
    if target == data or target in data.parents or data in target.parents:
        raise InvalidRequest(f"The backup {target} and the data directory {data} must not lie in each other.")
    return target


def _is_backup(folder: Path) -> bool:
    if is_sealed(folder):
        return True
    try:
        read_manifest(folder)
    except StorageUnavailable:
        return False
    return True


def _is_kept(entry: Path) -> bool:
    """True for a backup of a folder of backups, also for one that was being made or removed."""
    name = entry.name.removeprefix(".").removesuffix(".unfinished").removesuffix(".former")
    return entry.is_dir() and not entry.is_symlink() and _NAMED.fullmatch(name) is not None


def kept_in(folder: Path) -> list[Path]:
    """The whole backups in a folder, oldest first."""
    if not folder.is_dir():
        return []
    found = sorted(entry for entry in folder.iterdir() if _NAMED.fullmatch(entry.name))
    return [entry for entry in found if (entry / MANIFEST_FILE).is_file()]


def _remove_old(folder: Path, made: Path, most: int) -> None:
    """Remove all but the newest backups, and what was left by who was killed.

    The one that was just made is the newest, whatever a clock that was set back says of it.
    """
    stay = [*[entry for entry in kept_in(folder) if entry != made], made][-most:]
    for old in [entry for entry in folder.iterdir() if _is_kept(entry) and entry not in stay]:
        (old / MANIFEST_FILE).unlink(missing_ok=True)  # first, so that half a backup is none
        shutil.rmtree(old)


def _write_backup(
    settings: Settings,
    path: Path,
    choice: Choice,
    former: Path | None = None,
    *,
    key: BackupKey | None,
    keep: int | None = None,
) -> Manifest:
    made_at, data_dir = now_text(), settings.storage.data_dir
    with whole_folder(path, replaces=True) as unfinished, ExitStack() as staged:
        with file_errors(data_dir):
            plain = unfinished if key is None else staged.enter_context(staging_in(data_dir))
        copying = _copy_all(settings, plain / DATA_FOLDER, choice)
        if former is not None and key is None:
            _share(copying.entries.values(), former, unfinished)
        files = sorted(copying.entries.values(), key=lambda entry: entry.path)
        manifest = Manifest(
            made_at=made_at,
            program=__version__,
            has_keys=choice.keys,
            counts=counts_of(plain / DATA_FOLDER, files),
            left_out=[*copying.passed_over, *_elsewhere(settings)],
            files=files,
        )
        write_manifest(plain, manifest)
        if key is not None:
            seal_backup(plain, unfinished, key, former)
    try:
        note_backup(data_dir, KnownBackup(made_at=made_at, path=str(path), keep=keep))
    except OSError as exc:
        told = f"{data_dir} does not list this backup ({exc.strerror}), so no report of an erasure names it."
        return replace(manifest, left_out=[*manifest.left_out, told])
    return manifest


def _copy_all(settings: Settings, target: Path, choice: Choice) -> Copying:
    """Copy a data directory: what is declared in its order, then all else. Raises StorageUnavailable."""
    root = settings.storage.data_dir.resolve()
    keys = _keys_of_encryption(settings)
    by_itself = "holds keys of encryption at rest; copy them by themselves: `mnemoir encryption backup-keys`."
    never = {STAGING, _below(root, settings.log.directory), *keys}
    declared = [(files, _below(root, place_of(settings, files.path))) for files in declared_files()]
    wanted = {"always", *(["keys"] if choice.keys else []), *(["all"] if choice.all else [])}
    unwanted = [path for files, path in declared if files.when not in wanted and path is not None]
    copying = Copying(root, target, lambda path: path in never or any(_matches(path, each) for each in unwanted))
    copying.passed_over += [f"{root / key} {by_itself}" for key in keys]
    if settings.storage.dsn is not None:
        copying.passed_over.append(
            "memories, jobs, the settings of projects, keys and people with the audit log, and traces lie in "
            "PostgreSQL; back that up by its own programs, such as pg_dump."
        )
    with embedded.errors(root, OSError):
        target.mkdir(0o700)
        if is_database(database := root / DATABASE_FILE):
            _refuse_lost_log(database)
        _refuse_losses(settings)
        for files, path in declared:
            if path is not None and path not in unwanted:
                (files.copy or Copying.copy)(copying, path)
        copying.copy("")
        sync_folder(target)
    return copying


def _refuse_losses(settings: Settings) -> None:
    """Raise StorageDamaged where a database is lost: restored, it would look as if it never was."""
    if losses_in(settings):  # and again, as somebody may just be erased
        for message in losses_in(settings).values():
            raise StorageDamaged(message)


def _matches(path: str, pattern: str) -> bool:
    """True when each step of a path matches that of a pattern."""
    steps, wanted = path.split("/"), pattern.split("/")
    return len(steps) == len(wanted) and all(map(fnmatchcase, steps, wanted))


def _refuse_lost_log(database: Path) -> None:
    """As the start of a server does, which would not find out any more once another program has opened the file."""
    if not beside(database, "-wal").exists():
        return
    try:
        lock = ProcessLock(database.parent)
    except StorageUnavailable:
        return  # a running server has looked
    try:
        embedded.refuse_lost_log(database)
    finally:
        lock.release()


def _share(entries: Iterable[FileEntry], former: Path, backup: Path) -> None:
    """Replace files by links to those of the former backup that are the same, byte for byte."""
    try:
        before = {entry.path: entry for entry in read_manifest(former).files}
    except StorageUnavailable:
        return
    for entry in entries:
        if before.get(entry.path) != entry:
            continue
        source, file = former / DATA_FOLDER / entry.path, backup / DATA_FOLDER / entry.path
        with suppress(OSError):  # the copy stays: a file system without links, or a damaged file
            if digest_of(source) == (entry.size_bytes, entry.sha256):
                link = file.with_name(f"{file.name}.link")
                os.link(source, link)
                link.replace(file)
                sync_folder(file.parent)


def _below(root: Path, folder: Path | None) -> str | None:
    """The path below the root; None for a folder elsewhere."""
    if folder is None or not folder.resolve().is_relative_to(root):
        return None
    return folder.resolve().relative_to(root).as_posix()


def _keys_of_encryption(settings: Settings) -> list[str]:
    """The files below the data directory with keys of encryption at rest: with them a backup holds who was erased."""
    root, chosen = settings.storage.data_dir.resolve(), settings.encryption
    files = [_below(root, file) for file in (chosen.store_file or root / STORE_FILE, chosen.key_file)]
    return [file for file in files if file is not None and (root / file).exists()]


def _elsewhere(settings: Settings) -> Iterator[str]:
    """A line for each file and folder of the settings that lies outside of the data directory."""
    root, flows, vectors = settings.storage.data_dir.resolve(), settings.workflows, settings.memory.vector_store
    named = {
        "settings file": settings.source.file,
        "config tree": flows.config_dir,
        "conversations": folder_of_conversations(settings),
        "discussions": flows.discussion_directory,
        "workspace": settings.storage.workspace_root if settings.storage.backend == "file" else None,
        "vectors": vectors.persist_directory,
    }
    for what, path in named.items():
        if path is not None and _below(root, path) is None:
            yield f"The {what} {path.absolute()} lies elsewhere."
