"""Cache of the files of the config tree, which reads a file again when it changes.

A file is read and validated once per change, so a lookup costs one call to the file system. An edit takes effect at
the next lookup. If an edit breaks the file, its last valid version stays in use; the log reports that once, and
`problems` as long as it lasts.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Final, TypeVar

import orjson
import structlog

from mnemoir.core.errors import SettingsError
from mnemoir.workflows.config.lookup import FileMatch, Stamp, is_settled, stamp_of

MOST_BYTES = 8 * 1024 * 1024
MOST_LEVELS = 100
_MARK = b"\xef\xbb\xbf"  # byte order mark, which some editors put before UTF-8
_NOTHING: Final = object()

_log = structlog.get_logger(__name__)

T = TypeVar("T")
Reader = Callable[[str, Any], T]  # from a file's relative path and its JSON to a value; raises SettingsError


@dataclass(frozen=True, slots=True, kw_only=True)
class _Version:
    """The last seen version of a file. With a problem, `value` is that of the last valid version, if any."""

    stamp: Stamp
    is_settled: bool
    digest: bytes
    value: object
    problem: str = ""


class FileCache:
    """The values read from files below `root`. Not thread-safe."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._versions: dict[tuple[str, Reader[Any]], _Version] = {}

    def read(self, found: FileMatch, reader: Reader[T]) -> T:
        """The value that `reader` made of the file: the same object as long as the file is unchanged.

        Raises SettingsError for a broken file without an earlier valid version.
        """
        key = (found.path, reader)
        version = self._versions.get(key)
        if version is None or version.stamp != stamp_of(found.stat) or not version.is_settled:
            version = self._versions[key] = self._read_again(found, reader, version)
        if version.value is _NOTHING:
            raise SettingsError(version.problem)
        return version.value  # type: ignore[return-value]  # made by this reader

    def problems(self) -> Mapping[str, str]:
        """The faults of files with an unused present version, by path relative to the root."""
        for key in [key for key in self._versions if not os.path.exists(key[0])]:
            del self._versions[key]
        return {self._relative(path): known.problem for (path, _), known in self._versions.items() if known.problem}

    def _read_again(self, found: FileMatch, reader: Reader[Any], before: _Version | None) -> _Version:
        stamp, settled, digest = stamp_of(found.stat), is_settled(found.stat), b""
        relative = self._relative(found.path)
        try:
            content = read_bytes(found.path, self._root)
            digest = blake2b(content).digest()
            if before is not None and before.digest == digest:
                return replace(before, stamp=stamp, is_settled=settled)
            value = reader(relative, parse(relative, content))
            return _Version(stamp=stamp, is_settled=settled, digest=digest, value=value)
        except SettingsError as exc:
            kept = before.value if before is not None else _NOTHING
            if before is not None and kept is not _NOTHING and before.problem != exc.message:
                _log.warning("broken config file, its last valid version stays in use", cause=exc.message)
            return _Version(stamp=stamp, is_settled=settled, digest=digest, value=kept, problem=exc.message)

    def _relative(self, path: str) -> str:
        return os.path.relpath(path, self._root).replace(os.sep, "/")


def read_bytes(path: str, root: str) -> bytes:
    """The content of a file. Raises SettingsError if it is too large, unreadable, or a link out of `root`."""
    real, top = os.path.realpath(path), os.path.realpath(root)
    if not real.startswith(os.path.join(top, "")):
        raise SettingsError(f"{path} is a link to {real}, outside {root}. Put the file itself there.")
    try:
        with open(real, "rb") as source:
            # `read` allocates the requested size, so no more is requested than the file's size
            content = source.read(min(os.fstat(source.fileno()).st_size, MOST_BYTES) + 1)
    except OSError as exc:
        raise SettingsError(f"{path} cannot be read: {exc.strerror}.") from exc
    if len(content) > MOST_BYTES:
        raise SettingsError(f"{path} is over {MOST_BYTES // 1024 // 1024} MiB. Split it, or remove it.")
    return content


def parse(relative: str, content: bytes) -> Any:
    """The JSON of a file, with or without a byte order mark. Raises SettingsError naming the file and position."""
    try:
        value = orjson.loads(content.removeprefix(_MARK))
    except orjson.JSONDecodeError as exc:
        raise SettingsError(f"{relative} is not valid JSON: {exc}.") from exc
    if _is_deeper(value, MOST_LEVELS):
        raise SettingsError(f"{relative} is nested deeper than {MOST_LEVELS} levels.")
    return value


def _is_deeper(value: Any, levels: int) -> bool:
    """True when the value is nested deeper. Level by level without recursion, because any depth is possible."""
    layer = _containers([value])
    for _ in range(levels):
        layer = [inner for outer in layer for inner in _containers(outer)]
        if not layer:
            return False
    return True


def _containers(value: Any) -> list[Any]:
    members = value.values() if type(value) is dict else value
    return [member for member in members if type(member) in (dict, list)]
