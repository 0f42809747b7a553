"""The list of a user's discussions, built from the names of their files.

A file's name names its discussion. An encoded name does not contain the id, so the id is read from the files. The
entries of a ledger are counted again only after the file has changed.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import structlog

from mnemoir.core.clock import from_epoch, to_text
from mnemoir.core.discussion_id import directory_name, encoded_name
from mnemoir.core.discussions import ClientFolder, Discussion, DiscussionListed
from mnemoir.core.errors import KeyUnavailable, StorageUnavailable
from mnemoir.storage.discussions.ledger_entries import is_forgotten, is_stale, is_summary
from mnemoir.storage.discussions.ledger_file import Known, LedgerFile, Stamps
from mnemoir.storage.discussions.ledger_lines import Entry
from mnemoir.storage.discussions.places import Kind, first_file, kind_in_folder, name_and_companion, owner_of, places
from mnemoir.storage.discussions.record_files import identity_of, open_connection, records_file_of
from mnemoir.storage.files.workspace import Folder, file_errors
from mnemoir.storage.sql.engine import Sql
from mnemoir.storage.sqlite.shared_file import SharedFile
from mnemoir.storage.sqlite.transactions import storage_errors

_MOST_KEPT = 20_000  # counts of ledgers, about 200 bytes each

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Where:
    """Where discussions are, as for a Discussion."""

    root: Path
    legacy: Path | None
    client: ClientFolder | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """A file of a discussion; `kind` is None for a companion file."""

    name: str
    kind: Kind | None
    bytes: int
    changed_at: float


@dataclass(slots=True, kw_only=True)
class _Files:
    """The totals of one discussion's files."""

    kinds: set[Kind] = field(default_factory=set)
    bytes: int = 0
    changed_at: float = 0.0

    def add(self, seen: _Seen) -> None:
        self.kinds |= {seen.kind} if seen.kind else set()
        self.bytes += seen.bytes
        self.changed_at = max(self.changed_at, seen.changed_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Count:
    """The number of records, or of live summaries, and the discussion's id when one of them contains it."""

    live: int = 0
    id: str | None = None


class DiscussionListing:
    """The listing of discussions. All methods block; thread-safe."""

    def __init__(self) -> None:
        self._counts: dict[Known, tuple[Stamps, _Count]] = {}

    def discussions_in(self, root: Path, legacy: Path | None, client: ClientFolder | None) -> list[DiscussionListed]:
        """All discussions, sorted by id. Raises StorageUnavailable when the root itself cannot be read."""
        where = _Where(root=root, legacy=legacy, client=client)
        all_files: dict[str, _Files] = {}
        for seen in _every_file(where):
            all_files.setdefault(seen.name, _Files()).add(seen)
        rows = (self._row(where, name, files) for name, files in all_files.items() if files.kinds)
        return sorted(rows, key=lambda row: row.id)

    def entry(self, discussion: Discussion) -> DiscussionListed | None:
        """One discussion; None when it has no files. Raises as `listed` does."""
        name, files = discussion.file_name, _Files()
        where = _Where(root=discussion.root, legacy=discussion.legacy, client=discussion.client)
        for seen in _every_file(where):
            if seen.name == name:
                files.add(seen)
        if not files.kinds:
            return None
        return replace(self._row(where, name, files), id=discussion.id)

    def _row(self, where: _Where, name: str, files: _Files) -> DiscussionListed:
        ledger = self._ledger(where, name) if "memories" in files.kinds else _Count()
        summary = _summary(where, name) if "summary" in files.kinds else None
        records = _records(where, name) if "records" in files.kinds else _Count()
        changed_at = from_epoch(files.changed_at)
        told = [ledger.id, _id_in(summary), records.id]
        return DiscussionListed(
            id=next((id for id in told if id is not None and name in (directory_name(id), encoded_name(id))), name),
            updated_at=to_text(changed_at) if changed_at else "",
            chunk_summaries=ledger.live,
            records=records.live,
            has_summary=summary is not None,
            bytes=files.bytes,
        )

    def _ledger(self, where: _Where, name: str) -> _Count:
        try:
            ledger = LedgerFile(where.root, name, where.client)
            kept = self._counts.get(ledger.known_as)
            if kept is None or kept[0] != ledger.stamps():
                read = ledger.read()
                kept = read.stamps, _count(read.entries)
                if len(self._counts) >= _MOST_KEPT:
                    self._counts.clear()
                self._counts[ledger.known_as] = kept
        except KeyUnavailable:  # a list for all keys has those of others too
            return _Count()
        except StorageUnavailable as exc:
            _log.warning("discussion is listed without its chunk summaries", error=exc.message)
            return _Count()
        return kept[1]


def _count(entries: Sequence[Entry]) -> _Count:
    summaries = [entry for entry in entries if is_summary(entry.value)]
    ids = (_id_in(entry) for entry in summaries)
    live = sum(not (is_stale(entry) or is_forgotten(entry)) for entry in summaries)
    return _Count(live=live, id=next(filter(None, ids), None))


def _id_in(entry: Entry | None) -> str | None:
    id = entry.value.get("discussion") if entry else None
    return id if isinstance(id, str) else None


def _summary(where: _Where, name: str) -> Entry | None:
    try:
        file = first_file(where.root, places(name, "summary", where.client), where.client)
        entries = file.ledger_text().entries if file else ()
    except KeyUnavailable:
        return None
    except StorageUnavailable as exc:
        _log.warning("discussion is listed without its summary", error=exc.message)
        return None
    return entries[-1] if entries and is_summary(entries[-1].value) else None


def _records(where: _Where, name: str) -> _Count:
    """The records of a discussion, read without keeping the database open."""
    try:
        path = records_file_of(name, where.root, where.legacy, where.client)
        with storage_errors(path, OSError):
            if identity_of(path) is None:
                return _Count()
        with closing(SharedFile(path, open_connection)) as file:
            return file.read(_record_count)
    except StorageUnavailable as exc:
        _log.warning("discussion is listed without its records", error=exc.message)
        return _Count()


def _record_count(sql: Sql) -> _Count:
    discussion = sql.value("SELECT discussion_id FROM memories WHERE discussion_id IS NOT NULL LIMIT 1")
    return _Count(
        live=int(sql.value("SELECT count(*) FROM memories")), id=None if discussion is None else str(discussion)
    )


def _every_file(where: _Where) -> Iterator[_Seen]:
    root = where.root
    with file_errors("The folder of discussions", "listed"), Folder(root=root, steps=()).open() as folder:
        inside = _entries(folder)
        if where.client is None:
            yield from _flat(inside)
        for entry in inside:
            if entry.is_dir(follow_symlinks=False) and can_be_named(entry.name):
                yield from _files_in_folder(root, entry.name)
    if where.legacy is not None:
        yield from _legacy(where.legacy)


def _flat(entries: list[os.DirEntry[str]]) -> Iterator[_Seen]:
    for entry in entries:
        base, companion = name_and_companion(entry.name)
        owner = owner_of(base)
        if owner and can_be_named(owner[0]) and entry.is_file(follow_symlinks=False):
            yield _seen_file(entry, owner[0], None if companion else owner[1])


def _files_in_folder(root: Path, name: str) -> Iterator[_Seen]:
    try:
        with file_errors(name, "listed"), Folder(root=root, steps=(name,)).open() as folder:
            for entry in _entries(folder):
                base, companion = name_and_companion(entry.name)
                kind = kind_in_folder(base)
                if kind and entry.is_file(follow_symlinks=False):
                    yield _seen_file(entry, name, None if companion else kind)
    except StorageUnavailable as exc:
        _log.warning("discussion is not listed", error=exc.message)


def _legacy(legacy: Path) -> Iterator[_Seen]:
    try:
        with file_errors("The folder of older databases", "listed"), Folder(root=legacy, steps=()).open() as folder:
            yield from (seen for seen in _flat(_entries(folder)) if seen.kind == "records")
    except StorageUnavailable as exc:
        _log.warning("discussions of an older program are not listed", error=exc.message)


def _entries(folder: int | None) -> list[os.DirEntry[str]]:
    if folder is None:
        return []
    with os.scandir(folder) as entries:
        return list(entries)


def _seen_file(entry: os.DirEntry[str], name: str, kind: Kind | None) -> _Seen:
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:  # deleted since
        return _Seen(name=name, kind=None, bytes=0, changed_at=0.0)
    return _Seen(name=name, kind=kind, bytes=status.st_size, changed_at=status.st_mtime)


def can_be_named(name: str) -> bool:
    """True when a discussion's files can have that name."""
    return name.startswith("%") or directory_name(name) == name
