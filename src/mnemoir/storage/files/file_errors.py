"""Translation of file errors: failures and damaged contents become StorageUnavailable, naming file and cause."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import orjson

from mnemoir.core.errors import StorageUnavailable

_NEXT_STEP = {
    errno.ENOSPC: "Free some space on that disk.",
    errno.EDQUOT: "Raise the disk quota or free some space.",
    errno.EACCES: "Give the server's user the right to it.",
    errno.EPERM: "Give the server's user the right to it.",
    errno.EROFS: "Mount the workspace writable.",
    errno.EMFILE: "Raise the limit of open files (ulimit -n).",
    errno.ENFILE: "Close programs that hold many files open.",
    errno.ETIMEDOUT: "End the program that holds it, or try again.",
    errno.ELOOP: "Put the folder or file itself in place of the link: links below the workspace are not followed.",
    errno.ENOTDIR: "Put a folder in its place: links below the workspace are not followed.",
}


@contextmanager
def file_errors(name: str, doing: str) -> Iterator[None]:
    """Raise StorageUnavailable in place of OSError; `name` is the file's path within the workspace."""
    try:
        yield
    except OSError as exc:
        cause = exc.strerror or str(exc)
        step = _NEXT_STEP.get(exc.errno or 0, "See the server's disk and log.")
        raise StorageUnavailable(f"{name} could not be {doing}: {cause}. {step}") from exc


@contextmanager
def damage_errors(name: str) -> Iterator[None]:
    """Raise StorageUnavailable in place of ValueError, which means that the file's content is invalid."""
    try:
        yield
    except ValueError as exc:
        raise StorageUnavailable(
            f"{name} is damaged ({exc}) and was left as it is. Repair it or take it away."
        ) from exc


def json_object(content: bytes) -> dict[str, Any]:  # other programs write any members
    """The members of a JSON object; {} for an empty file. Raises ValueError for anything else."""
    members = orjson.loads(content.removeprefix(b"\xef\xbb\xbf") or b"{}")
    if not isinstance(members, dict):
        raise ValueError("it is JSON, but not an object")
    return members
