"""Objects as files of a local directory: `root/step/step/name`.

It does not use obstore, whose local store neither syncs to disk nor supports conditional saves. A save is durable
when it returns, and readers see the old file or the new one. A lock serialises the writers of one folder, in this
process and in others; no symbolic link below the root is followed.
"""

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from mnemoir.core.atomic_file import read_file, remove_durably, replace_file
from mnemoir.core.errors import InvalidRequest, StorageUnavailable
from mnemoir.ports.objects import ConditionalStore, ObjectEntry, ObjectNotFound, StoredObject
from mnemoir.storage.file_lock import hold_folder_lock
from mnemoir.storage.files.workspace import Folder, existing, file_errors

_LONGEST_STEP_BYTES = 240  # file systems allow 255, and a temporary file has a longer name
_TEMPORARY = ".tmp"  # the suffix of unfinished files
Condition = Callable[[bytes | None], bool]  # of the current content, None for no file; True allows the write
_TRIES = 100  # a try fails when another writer deletes the folder's last object at the same moment


def steps_of(key: str) -> list[str]:
    """The parts of a key between slashes. Raises InvalidRequest for a key that some store does not accept."""
    steps = key.split("/")
    if not all(_is_allowed(step) for step in steps):
        raise InvalidRequest(
            f"Object key {key!r} is not allowed: every step between slashes needs a name of at most "
            f"{_LONGEST_STEP_BYTES} bytes that is not '.' or '..', holds no control character or backslash and does "
            f"not end in {_TEMPORARY!r}."
        )
    return steps


def _is_allowed(step: str) -> bool:
    return (
        step not in ("", ".", "..")
        and step.isprintable()
        and "\\" not in step
        and not step.endswith(_TEMPORARY)
        and len(step.encode()) <= _LONGEST_STEP_BYTES
    )


def is_unfinished(name: str) -> bool:
    """True for a temporary file that a writer left behind; it is not an object."""
    return name.endswith(_TEMPORARY)


class LocalObjects:
    """Objects below `root`, which the first save creates; `~` in it is the home directory."""

    def __init__(self, root: str | Path) -> None:
        self._root = Path(root).expanduser()

    def save(self, key: str, content: bytes) -> None:
        """Store the bytes under the key; durable on return."""
        self._write(key, content, None)

    def save_if(self, key: str, content: bytes, version: str | None) -> bool:
        """Save when the object has this version, or with None when there is no object; False otherwise."""
        return self._write(key, content, lambda current: _version(current) == version)

    def load(self, key: str) -> StoredObject | None:
        """The object with its version, a digest of its bytes; None when there is none."""
        folder, name = self._place(key)
        with file_errors(key, "read"), folder.open() as opened:
            content = None if opened is None else _content(opened, name)
        return None if content is None else StoredObject(content=content, version=_digest(content))

    def load_once(self, key: str) -> bytes:
        """The whole content of an object. Raises ObjectNotFound."""
        if (found := self.load(key)) is None:
            raise ObjectNotFound(f"There is no object {key!r} in the store.")
        return found.content

    def beginning(self, key: str, count: int) -> bytes:
        """The first bytes of an object; none when there is no object."""
        folder, name = self._place(key)
        with file_errors(key, "read"), folder.open() as opened:
            found = None if opened is None else read_file(opened, name, count)
        return b"" if found is None else found[0]

    def exists(self, key: str) -> bool:
        """True when there is a file of this key."""
        return self._status(key) is not None

    def modified_at(self, key: str) -> datetime | None:
        """The time of the file's last write; None when there is no file."""
        status = self._status(key)
        return None if status is None else _modification_time(status)

    def delete(self, key: str) -> None:
        """Delete the file, temporary files of killed writers in its folder, and folders that are then empty."""
        folder, name = self._place(key)
        with file_errors(key, "deleted"):
            with folder.open() as opened:
                if opened is None:
                    return
                with hold_folder_lock(opened):
                    remove_durably(opened, name, *filter(is_unfinished, os.listdir(opened)))
            self._remove_empty(folder)

    def scan(self, prefix: str) -> Iterator[ObjectEntry]:
        """All objects below `prefix`, sorted by name in each folder. Objects deleted during the scan are skipped."""
        steps = steps_of(prefix.removesuffix("/")) if prefix else []
        with file_errors(prefix or "The object store", "listed"):
            yield from self._below(self._root.joinpath(*steps), prefix.removesuffix("/"))

    def _below(self, folder: Path, prefix: str) -> Iterator[ObjectEntry]:
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            return
        for entry in entries:
            key = f"{prefix}/{entry.name}" if prefix else entry.name
            if entry.is_dir(follow_symlinks=False):
                yield from self._below(folder / entry.name, key)
            elif entry.is_file(follow_symlinks=False) and not is_unfinished(entry.name):
                with suppress(FileNotFoundError):
                    status = entry.stat(follow_symlinks=False)
                    yield ObjectEntry(key=key, size_bytes=status.st_size, last_modified=_modification_time(status))

    def _write(self, key: str, content: bytes, is_allowed: Condition | None) -> bool:
        folder, name = self._place(key)
        with file_errors(key, "written"):
            for _ in range(_TRIES):
                with suppress(FileNotFoundError):  # the folder was deleted between opening it and writing into it
                    return _write_content(folder, name, content, is_allowed)
        raise StorageUnavailable(f"{key} could not be written: its folder is deleted again and again. Try again.")

    def _status(self, key: str) -> os.stat_result | None:
        folder, name = self._place(key)
        with file_errors(key, "read"), folder.open() as opened:
            try:
                status = os.stat(name, dir_fd=existing(opened), follow_symlinks=False)
            except FileNotFoundError:
                return None
        return status if stat.S_ISREG(status.st_mode) else None

    def _place(self, key: str) -> tuple[Folder, str]:
        *steps, name = steps_of(key)
        return Folder(root=self._root, steps=tuple(steps)), name

    def _remove_empty(self, folder: Folder) -> None:
        for depth in range(len(folder.steps), 0, -1):
            with Folder(root=self._root, steps=folder.steps[: depth - 1]).open() as parent:
                try:
                    os.rmdir(folder.steps[depth - 1], dir_fd=existing(parent))
                except OSError:  # not empty, or deleted: nothing to do for its parents
                    return


def _write_content(folder: Folder, name: str, content: bytes, is_allowed: Condition | None) -> bool:
    with folder.open(create=True) as opened, hold_folder_lock(existing(opened)):
        if is_allowed is not None and not is_allowed(_content(existing(opened), name)):
            return False
        replace_file(existing(opened), name, content)
        return True


def _content(folder: int, name: str) -> bytes | None:
    found = read_file(folder, name)
    return None if found is None else found[0]


def _version(content: bytes | None) -> str | None:
    return None if content is None else _digest(content)


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _modification_time(status: os.stat_result) -> datetime:
    return datetime.fromtimestamp(status.st_mtime, UTC)


_: type[ConditionalStore] = LocalObjects  # checked, never run
