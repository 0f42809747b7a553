"""The file with the records of a discussion: that of an earlier program if it exists, else one of ours."""

import os
import stat
from pathlib import Path

from mnemoir.core.discussion_id import directory_name
from mnemoir.core.discussions import Discussion
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.discussions.places import places
from mnemoir.storage.sqlite.transactions import storage_errors

Identity = tuple[int, int]  # device and inode: another file under the same name has another


def records_file(discussion: Discussion) -> Path:
    """The existing file, else the one to create. Raises StorageUnavailable. Only roots may be links."""
    return records_file_of(directory_name(discussion.id), discussion.root, discussion.legacy)


def records_file_of(name: str, root: Path, legacy: Path | None) -> Path:
    """The same for the discussion whose files have that name."""
    candidates = places(name, "records")
    files = [place.below(real(root)) for place in candidates]
    new = files[-1]
    if legacy is not None:
        files.append(candidates[-1].below(real(legacy)))
    with storage_errors(new, OSError):
        return next((file for file in files if _is_there(file)), new)


def identity_of(path: Path) -> Identity | None:
    """The identity of the file; None without one, and for an empty one, which WilmerAI leaves where it searched.

    Raises StorageUnavailable for a link, and OSError.
    """
    refuse_links(path)
    try:
        status = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return (status.st_dev, status.st_ino) if status.st_size else None


def refuse_links(path: Path) -> None:
    """Raise StorageUnavailable when the file or its folder is a link."""
    if path.is_symlink() or path.parent.is_symlink():
        raise StorageUnavailable(
            f"{path} is a link, or lies behind one. Put the file itself in its place: links are not followed."
        )


def real(root: Path) -> Path:
    """The root with links resolved: it may be a link, but SQLite must follow none."""
    return Path(os.path.realpath(root))


def _is_there(file: Path) -> bool:
    """True when the file exists; a folder of that name belongs to another discussion."""
    try:
        return not stat.S_ISDIR(os.lstat(file).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
