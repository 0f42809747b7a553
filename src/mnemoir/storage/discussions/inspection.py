"""The check of discussions' files for damage. Nothing is written or repaired.

Every file that may be a discussion's is read, also one that is not in use because another one takes precedence.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import apsw

from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.discussions.listing import can_be_named
from mnemoir.storage.discussions.placed_file import PlacedFile, placed
from mnemoir.storage.discussions.places import Kind, Place, kind_in_folder, owner_of
from mnemoir.storage.discussions.record_files import is_too_short, opened
from mnemoir.storage.discussions.record_place import identity_of, real
from mnemoir.storage.discussions.record_schema import refuse_other_files
from mnemoir.storage.files.file_errors import file_errors
from mnemoir.storage.files.workspace import Folder
from mnemoir.storage.sqlite.transactions import FOREIGN, SqliteSql

_HALF_WRITTEN = "a killed writer left it half written. The next use of the discussion undoes that; then look again."

KindOf = Callable[[str], Kind | None]  # of a file, by its name; None for an unrelated file


def inspect(root: Path, legacy: Path | None) -> list[str]:
    """One line for each damaged file; each begins with the whole path. Blocks."""
    problems = [*_in_folder(real(root), (), _kind_in_root, inner=kind_in_folder)]
    return problems if legacy is None else [*problems, *_in_folder(real(legacy), (), _kind_in_legacy)]


def _in_folder(root: Path, steps: Sequence[str], kind_of: KindOf, inner: KindOf | None = None) -> Iterator[str]:
    """The problems of a folder; with `inner` also those of its subfolders that may be discussions'."""
    try:
        entries = sorted(_entries(root, steps))
    except StorageUnavailable as exc:
        yield exc.message
        return
    for name, is_folder in entries:
        if not is_folder:
            yield from _in_file(root, Place(steps=steps, file=name), kind_of(name))
        elif inner is not None and can_be_named(name):
            yield from _in_folder(root, (name,), inner)


def _entries(root: Path, steps: Sequence[str]) -> list[tuple[str, bool]]:
    """The entries of a folder: (name, True for a folder)."""
    name = str(root.joinpath(*steps))
    with file_errors(name, "listed"), Folder(root=root, steps=steps).open() as folder:
        if folder is None:
            return []
        with os.scandir(folder) as entries:
            return [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]


def _kind_in_root(file: str) -> Kind | None:
    owner = owner_of(file)
    return owner[1] if owner and can_be_named(owner[0]) else None


def _kind_in_legacy(file: str) -> Kind | None:
    return "records" if _kind_in_root(file) == "records" else None


def _in_file(root: Path, place: Place, kind: Kind | None) -> Iterator[str]:
    if kind == "records":
        yield from _in_records(place.below(root))
    elif kind in ("memories", "stale", "summary", "times"):
        yield from _in_json(placed(root, place), PlacedFile.members if kind == "times" else PlacedFile.parsed)


def _in_json(file: PlacedFile, read: Callable[[PlacedFile], object]) -> Iterator[str]:
    try:
        read(file)
    except StorageUnavailable as exc:
        yield f"{file.folder.root}/{exc.message}"  # which begins with the path below the root


def _in_records(path: Path) -> Iterator[str]:
    try:
        cause = _cause_in_records(path)
    except StorageUnavailable as exc:  # a link, another program's file, or a newer one
        yield exc.message
    except apsw.ReadOnlyError:
        yield f"{path}: {_HALF_WRITTEN}"
    except (*FOREIGN, OSError) as exc:
        yield f"{path} could not be read: {exc}."
    else:
        if cause is not None:
            yield f"{path} is damaged ({cause})."


def _cause_in_records(path: Path) -> str | None:
    if identity_of(path) is None:  # WilmerAI leaves an empty file where it searched
        return None
    if is_too_short(path):
        return "it is too short for a database"
    with closing(opened(path, apsw.SQLITE_OPEN_READONLY)) as connection:
        refuse_other_files(path, SqliteSql(connection))
        cause = str(connection.execute("PRAGMA quick_check(1)").get)
    return None if cause == "ok" else cause
