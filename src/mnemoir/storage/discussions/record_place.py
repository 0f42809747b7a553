"""Which file holds the records of a discussion: that of an earlier program where there is one, else one of ours."""

import os
import stat
from pathlib import Path

from mnemoir.core.discussion_id import directory_name
from mnemoir.core.discussions import Discussion
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.sqlite.failures import storage_errors

_NESTED = "vector_memory.db"
_FLAT = "_vector_memory.db"

Identity = tuple[int, int]  # device and inode: another file under the same name has another


def records_file(discussion: Discussion) -> Path:
    """The file that is there, else the one to make. Raises StorageUnavailable. Only roots may be links."""
    root, name = _real(discussion.root), directory_name(discussion.id)
    places = [root / name / _NESTED, root / f"{name}{_FLAT}"]
    if discussion.legacy is not None:
        places.append(_real(discussion.legacy) / f"{name}{_FLAT}")
    with storage_errors(places[1], OSError):
        return next((place for place in places if _is_there(place)), places[1])


def identity_of(path: Path) -> Identity | None:
    """Which file it is; None where there is none, or one without a byte: WilmerAI leaves those where it searched.

    Raises StorageUnavailable for a link, and OSError.
    """
    refuse_links(path)
    try:
        status = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return (status.st_dev, status.st_ino) if status.st_size else None


def refuse_links(path: Path) -> None:
    """Raise StorageUnavailable where the file or its folder is a link."""
    if path.is_symlink() or path.parent.is_symlink():
        raise StorageUnavailable(
            f"{path} is a link, or lies behind one. Put the file itself in its place: links are not followed."
        )


def _real(root: Path) -> Path:
    return Path(os.path.realpath(root))


def _is_there(place: Path) -> bool:
    """A folder of that name is another discussion's."""
    try:
        return not stat.S_ISDIR(os.lstat(place).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
