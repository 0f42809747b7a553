"""Tombstones: who was erased and when, in a file of their own, by which a restored backup is brought up to date.

The database of memories has the same lines as rows, so that one of before an erasure is noticed.

They hold no names, but digests under a salt that stands beside them: who has the file can try whether a name is in
it, and the digest is made costly for that. A line is added for each erasure and none is ever removed. The file needs
nothing else to be read, so that a copy of it serves when the data directory is lost.
"""

import hashlib
import json
import os
import secrets
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from mnemoir.core.atomic_file import append_file, read_file
from mnemoir.core.data_directory import TOMBSTONES_FILE
from mnemoir.core.discussion_id import encoded_name
from mnemoir.storage.sqlite.transactions import storage_errors

_COST = 2**12  # of scrypt: some milliseconds a name
_MEMBERS = ("at", "salt", "name", "folder", "project")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_Line = Mapping[str, str | None]


class Tombstones:
    """The erasures of one or several files."""

    def __init__(self, lines: Iterable[_Line] = ()) -> None:
        self._by_text = {json.dumps(line, sort_keys=True): line for line in lines}
        self.lines = list(self._by_text.values())

    def __add__(self, other: "Tombstones") -> "Tombstones":
        return Tombstones([*self.lines, *other.lines])

    @property
    def texts(self) -> set[str]:
        """The lines as text, by which they are told apart."""
        return {*self._by_text}

    def without(self, texts: Collection[str]) -> "Tombstones":
        """Those that are not among the texts."""
        return Tombstones(line for text, line in self._by_text.items() if text not in texts)

    def after(self, tenant: str, name: str, project: str | None, time: str) -> bool:
        """Whether a user of a tenant was erased after a time, there or in all projects.

        `name` is the user's name or the encoded one of a folder; `project` is None for an unknown one.
        """
        return any(
            str(line["at"]) > time
            and line["project"] in (None, project)
            and _digest(tenant, name, str(line["salt"])) in (line["name"], line["folder"])
            for line in self.lines
        )

    def newer_than(self, time: str) -> bool:
        """Whether anybody was erased after a time."""
        return any(str(line["at"]) > time for line in self.lines)


def read_tombstones(folder: Path) -> Tombstones:
    """The erasures written down in a data directory; none without a file. Raises StorageUnavailable."""
    return Tombstones(_lines_in(folder)[0])


def tombstones_of(texts: Iterable[str]) -> Tombstones:
    """Those of lines as text."""
    return Tombstones(map(json.loads, texts))


def parsed_tombstones(content: bytes, path: Path) -> Tombstones:
    """The erasures in the bytes of such a file. Raises StorageUnavailable."""
    with storage_errors(path, ValueError, KeyError, TypeError):
        return Tombstones(_parsed_lines(content)[0])


def add_tombstone(folder: Path, tenant: str, user: str, project: str | None, at: str) -> Tombstones:
    """Write down that a user is erased, durably; what was written. Raises StorageUnavailable."""
    lines, end = _lines_in(folder)
    salt = str(lines[-1]["salt"]) if lines else secrets.token_hex(16)
    line = {
        "at": at,
        "salt": salt,
        "name": _digest(tenant, user, salt),
        "folder": _digest(tenant, encoded_name(user), salt),
        "project": project,
    }
    _append(folder, [line], end)
    return Tombstones([line])


def put_tombstones(folder: Path, tombstones: Tombstones) -> None:
    """Add those that a data directory lacks. Raises StorageUnavailable."""
    lines, end = _lines_in(folder)
    if missing := [line for line in tombstones.lines if line not in lines]:
        _append(folder, missing, end)


def _lines_in(folder: Path) -> tuple[list[_Line], int]:
    """The whole lines, and where they end: behind them may be what a killed writer left."""
    with storage_errors(folder / TOMBSTONES_FILE, OSError, ValueError, KeyError):
        try:
            opened = os.open(folder, _FOLDER)
        except FileNotFoundError:
            return [], 0
        try:
            found = read_file(opened, TOMBSTONES_FILE)
        finally:
            os.close(opened)
        content = b"" if found is None else found[0]
        return _parsed_lines(content)


def _parsed_lines(content: bytes) -> tuple[list[_Line], int]:
    whole = content[: content.rfind(b"\n") + 1]
    lines = map(json.loads, whole.splitlines())
    return [{name: line[name] for name in _MEMBERS} for line in lines], len(whole)


def _append(folder: Path, lines: Iterable[_Line], end: int) -> None:
    with storage_errors(folder / TOMBSTONES_FILE, OSError):
        opened = os.open(folder, _FOLDER)
        try:
            text = "".join(json.dumps(line) + "\n" for line in lines)
            append_file(opened, TOMBSTONES_FILE, text.encode(), end=end)
        finally:
            os.close(opened)


@lru_cache(10_000)
def _digest(tenant: str, name: str, salt: str) -> str:
    said = json.dumps([tenant, name]).encode()
    return hashlib.scrypt(said, salt=bytes.fromhex(salt), n=_COST, r=8, p=1, dklen=32).hex()
