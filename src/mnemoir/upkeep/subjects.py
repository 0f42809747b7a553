"""The rights of a person: an archive of everything stored of them, and its erasure, in all projects of a tenant."""

import asyncio
import tempfile
import zipfile
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import orjson

from mnemoir import __version__
from mnemoir.chats.people import Everybody
from mnemoir.core.clock import now_text
from mnemoir.core.scope import Scope
from mnemoir.ports.holdings import Amounts, Archive, OpenHolding
from mnemoir.storage.backups.staging import clear_staging
from mnemoir.storage.sql.holds import Holds
from mnemoir.storage.sql.tombstone_rows import TombstoneRows
from mnemoir.storage.tombstones import Tombstones, add_tombstone, put_tombstones, read_tombstones, tombstones_of
from mnemoir.upkeep.adopting import Adoption
from mnemoir.upkeep.backup_list import KnownBackup, known_backups
from mnemoir.upkeep.encryption import Encryption

_PIECE = 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A user of a tenant; in all projects, unless some are named."""

    tenant: str
    user: str
    projects: Sequence[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """What was erased: the projects in which there was anything, and how much of what.

    `backups` are those that this program made and that still hold it, as far as they are where they were made.
    """

    projects: Sequence[str]
    counts: Amounts
    backups: Sequence[KnownBackup]


class Subjects:
    """Serves every person. What is stored of one is in the holdings, and in the rows of the database.

    Where data are encrypted, the keys of an erased person are destroyed, so that no backup of them is readable.
    """

    def __init__(
        self,
        *,
        data_dir: Path,
        everybody: Everybody,
        holdings: Sequence[OpenHolding],
        holds: Holds,
        adoption: Adoption,
        encryption: Encryption,
        rows: TombstoneRows,
        backups_days: int | None = None,
    ) -> None:
        self._data_dir = data_dir
        self.everybody = everybody
        self._holdings = holdings
        self._holds = holds
        self._adoption = adoption
        self._encryption = encryption
        self._rows = rows
        self._backups_days = backups_days

    async def export(self, person: Person) -> IO[bytes]:
        """A zip archive of everything stored of a person, open at its beginning. Raises StorageUnavailable.

        It has no name on the disk, so nothing is left of it when it is closed.
        """
        file = await asyncio.to_thread(_nameless_file, self._data_dir)
        try:
            archive = _WholeArchive(file)
            for scope in await self._scopes(person):
                await self._export_project(archive.folder(f"projects/{scope.project}"), scope)
            for holding in self._holdings:
                if person.projects is None and holding.export_person is not None:
                    await holding.export_person(person.tenant, person.user, archive)
            about = {"user": person.user, "tenant": person.tenant, "made_at": now_text(), "program": __version__}
            await archive.close({**about, "lines": dict(archive.lines)})
        except BaseException:
            file.close()
            raise
        return file

    async def erase(self, person: Person) -> Erased:
        """Erase everything of a person; again for one who was erased. Raises Conflict and StorageUnavailable.

        Raises LegalHold, with nothing erased, for one on hold. A tombstone is written first: what is left after a
        failure goes when it is repeated.
        """
        await self._holds.refuse(Scope(tenant=person.tenant, project="", user=person.user))
        await self._adoption.end_those_of(person.tenant, person.user)
        await self._bury(person)
        counts: Counter[str] = Counter()
        projects = []
        for scope in await self._scopes(person):
            found = await self._erase_project(scope)
            counts.update(found)
            projects += [scope.project] if any(found.values()) else []
        if person.projects is None:
            counts.update(await self._erase_outside_projects(person.tenant, person.user))
        await asyncio.to_thread(clear_staging, self._data_dir)
        await self._bury(person)  # again, for a backup that began meanwhile
        backups = await asyncio.to_thread(known_backups, self._data_dir, self._backups_days)
        return Erased(projects=projects, counts=counts, backups=backups)

    async def erase_again(self, tombstones: Tombstones, since: str) -> int:
        """Erase who was erased after a time, in data of that time, whatever was on hold then; how many scopes.

        Raises Conflict and StorageUnavailable.
        """

        def is_erased(tenant: str, user: str) -> bool:
            return tombstones.after(tenant, user, None, since)

        await self._adoption.resume()
        found = [
            scope
            for scope in await self.everybody.all()
            if tombstones.after(scope.tenant, scope.user, scope.project, since)
        ]
        for scope in found:
            await self._holds.clear(scope.tenant, scope.user)
            await self._erase_project(scope)
        people: set[tuple[str, str]] = set()
        for holding in self._holdings:
            if holding.erase_nameless is not None:
                await holding.erase_nameless(is_erased)
            if holding.people is not None:
                people |= {*await holding.people()}
        for tenant, user in people:
            if is_erased(tenant, user):
                await self._erase_outside_projects(tenant, user)
        return len(found)

    async def bring_up_to_date(self) -> int:
        """Erase from the database who was erased behind its time, as in a dump of before; how many scopes.

        What lies in files of the data directory is of now: it stays, with the keys of who came back meanwhile. Raises
        StorageUnavailable.
        """
        told, stored = await asyncio.to_thread(read_tombstones, self._data_dir), await self._rows.lines()
        missing = told.without(stored)
        erased = await self._erase_from_database(missing) if missing.lines else 0
        await self._rows.put(missing.texts)
        if stored - told.texts:
            await asyncio.to_thread(put_tombstones, self._data_dir, tombstones_of(stored))
        return erased

    async def _erase_from_database(self, tombstones: Tombstones) -> int:
        in_database = [holding for holding in self._holdings if not holding.in_files]
        scopes = await self.everybody.all()
        found = await asyncio.to_thread(
            lambda: [scope for scope in scopes if tombstones.after(scope.tenant, scope.user, scope.project, "")]
        )
        for scope in found:
            await self._holds.clear(scope.tenant, scope.user)
            await self._erase_holdings(scope, in_database)
            await self.everybody.rows.drop(scope)
        for holding in in_database:
            if holding.erase_nameless is not None:
                await holding.erase_nameless(lambda tenant, user: tombstones.after(tenant, user, None, ""))
            if holding.people is not None and holding.erase_person is not None:
                for tenant, user in [*await holding.people()]:
                    if await asyncio.to_thread(tombstones.after, tenant, user, None, ""):
                        await holding.erase_person(tenant, user)
        return len(found)

    async def _bury(self, person: Person) -> None:
        at = now_text()
        for project in (None,) if person.projects is None else person.projects:
            added = await asyncio.to_thread(add_tombstone, self._data_dir, person.tenant, person.user, project, at)
            await self._rows.put(added.texts)

    async def _scopes(self, person: Person) -> list[Scope]:
        named = person.projects
        if named is None:
            named = await self.everybody.projects_of(person.tenant, person.user)
        return [Scope(tenant=person.tenant, project=project, user=person.user) for project in named]

    async def _export_project(self, archive: Archive, scope: Scope) -> None:
        for name, rows in (await self.everybody.rows.tables(scope)).items():
            await archive.add_lines(f"{name}.jsonl", rows)
        for holding in self._holdings:
            if holding.export is not None:
                await holding.export(scope, archive)

    async def _erase_project(self, scope: Scope) -> Counter[str]:
        counts = Counter(await self.everybody.rows.amounts(scope))
        owners = await asyncio.to_thread(self._encryption.owners_of, scope)  # while its folder is there
        erased = await self._erase_holdings(scope, self._holdings)
        await self.everybody.rows.drop(scope)
        await asyncio.to_thread(self._encryption.destroy_keys, owners)
        # what is deleted may be counted as rows, too; memories in project files have none
        return Counter({name: max(counts[name], erased[name]) for name in {**counts, **erased}})

    async def _erase_holdings(self, scope: Scope, holdings: Sequence[OpenHolding]) -> Counter[str]:
        erased: Counter[str] = Counter()
        for holding in holdings:
            erase = holding.erase or holding.forget
            if erase is not None:
                erased.update(await erase(scope))
        return erased

    async def _erase_outside_projects(self, tenant: str, user: str) -> Amounts:
        erased: Counter[str] = Counter()
        for holding in self._holdings:
            if holding.erase_person is not None:
                erased.update(await holding.erase_person(tenant, user))
        owners = await asyncio.to_thread(self._encryption.owners_of_name, tenant, user)
        await asyncio.to_thread(self._encryption.destroy_keys, owners)
        return erased


class _WholeArchive:
    """A zip file of JSON lines and objects. `lines` are their numbers by name, and `path` is the folder in it."""

    def __init__(self, file: IO[bytes]) -> None:
        self.path = ""
        self.lines: Counter[str] = Counter()
        self._file = file
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED)

    def folder(self, name: str) -> Archive:
        """A folder in it."""
        inner = copy(self)
        inner.path = self._inside(name)
        return inner

    async def add_lines(self, name: str, values: Sequence[Any]) -> None:
        """Add a file with a JSON line for each value."""
        await asyncio.to_thread(self.put_lines, name, values)

    async def add_pages(self, name: str, pages: AsyncIterator[Sequence[Any]]) -> None:
        """The same for values that come in pages, of which one at a time is in memory."""
        member: IO[bytes] | None = None
        try:
            async for page in pages:
                if page and member is None:
                    member = self._zip.open(self._inside(name), "w", force_zip64=True)
                if member is not None:
                    await asyncio.to_thread(member.write, self._lines(name, page))
        finally:
            if member is not None:
                member.close()

    def put_lines(self, name: str, values: Sequence[Any]) -> None:
        """Add a file with a JSON line for each value. Blocks."""
        if values:
            self.put(name, [self._lines(name, values)])

    def put(self, name: str, pieces: Iterable[bytes]) -> None:
        """Add a file. Blocks."""
        with self._zip.open(self._inside(name), "w", force_zip64=True) as member:
            for piece in pieces:
                member.write(piece)

    async def close(self, about: Mapping[str, Any]) -> None:
        """Write the table of contents, and go to the beginning of the file."""
        await asyncio.to_thread(self._close, about)

    def _close(self, about: Mapping[str, Any]) -> None:
        self.put("about.json", [orjson.dumps(about, option=orjson.OPT_INDENT_2)])
        self._zip.close()
        self._file.seek(0)

    def _inside(self, name: str) -> str:
        return f"{self.path}/{name}" if self.path else name

    def _lines(self, name: str, values: Sequence[Any]) -> bytes:
        self.lines[self._inside(name)] += len(values)
        return b"".join(orjson.dumps(value, default=str, option=orjson.OPT_APPEND_NEWLINE) for value in values)


def _nameless_file(folder: Path) -> IO[bytes]:
    return tempfile.TemporaryFile(dir=folder)


async def pieces_of(file: IO[bytes]) -> AsyncIterator[bytes]:
    """The bytes of a file from where it stands, which is closed at the end."""
    try:
        while piece := await asyncio.to_thread(file.read, _PIECE):
            yield piece
    finally:
        file.close()
