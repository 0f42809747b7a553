"""The removal, at the start, of temporary files that killed writers left beside the real ones."""

import os
from collections.abc import Sequence
from pathlib import Path

import structlog

from mnemoir.core.atomic_file import leftover_of, remove_file
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.file_lock import file_locked
from mnemoir.storage.files import project_file, project_settings
from mnemoir.storage.files.file_errors import file_errors
from mnemoir.storage.files.workspace import Folder, project_folder, projects

_log = structlog.get_logger(__name__)


def clear_leftovers(root: Path) -> None:
    """Delete the temporary files of every project. Blocks. A failure is logged; the next writer deletes that file."""
    try:
        for project in projects(root):
            _clear(project_folder(root, project), project_file.LOCK_NAME, [project_file.FILE_NAME])
            settings = project_folder(root, project, project_settings.INNER)
            _clear(settings, project_settings.LOCK_NAME, project_settings.FILE_NAMES)
    except StorageUnavailable as exc:
        _log.warning("workspace not looked through", error=exc.message)


def _clear(place: Folder, lock: str, names: Sequence[str]) -> None:
    try:
        with file_errors(place.name_of(names[0]), "tidied"), place.open() as folder:
            removed = [name for name in names if folder is not None and _remove_leftover(folder, name, lock)]
    except StorageUnavailable as exc:
        _log.warning("leftover stays", error=exc.message)
        return
    if removed:
        _log.info("leftover of a killed writer removed", files=[place.name_of(name) for name in removed])


def _remove_leftover(folder: int, name: str, lock: str) -> bool:
    """Delete it; False without one. Raises OSError; ETIMEDOUT while a writer holds the lock and uses the file."""
    leftover = leftover_of(name)
    if leftover not in os.listdir(folder):
        return False
    with file_locked(folder, lock, patience_s=0.0):
        remove_file(folder, leftover)
    return True
