"""A holding that nothing else knows: notes, each a row of a table of its own and a file that the row refers to."""

import asyncio
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from mnemoir.app.parts import Parts
from mnemoir.core.data_directory import DATABASE_FILE
from mnemoir.core.scope import Scope
from mnemoir.ports.holdings import Amounts, Archive, OpenHolding, Rehearsed
from mnemoir.ports.memory_store import Project
from mnemoir.storage import holdings
from mnemoir.storage.holdings import Files, Holding, register
from mnemoir.storage.sql import tables
from mnemoir.storage.sql.engine import Engine, Sql, Value, enter_scope
from mnemoir.storage.sql.tables import Table
from mnemoir.storage.sqlite import open_database
from mnemoir.upkeep import holdings as open_holdings
from mnemoir.upkeep.holdings import Stores, opens

NOTES = Holding(
    name="note",
    tables={
        "notes": Table(
            key="number",
            is_numbered=True,
            sealed=("text",),
            archive="notes",
            columns=("number", "conversation", "text", "days", "file"),
        )
    },
    files=[Files(path="notes", order=30, share="notes")],
)
TABLE = """
CREATE TABLE IF NOT EXISTS notes (
    scope_id INTEGER NOT NULL REFERENCES scopes (id),
    number INTEGER NOT NULL,
    conversation TEXT NOT NULL,
    text TEXT NOT NULL,
    days INTEGER NOT NULL,
    file TEXT NOT NULL,
    PRIMARY KEY (scope_id, number)
) STRICT
"""
_NEXT = "SELECT 1 + coalesce(max(number), 0) FROM notes WHERE scope_id = :scope_id"
_PUT = """
INSERT INTO notes (scope_id, number, conversation, text, days, file)
VALUES (:scope_id, :number, :conversation, :text, :days, :file)
"""
_ROWS = """
SELECT number, conversation, text, days, file FROM notes
 WHERE scope_id = :scope_id AND conversation = coalesce(:conversation, conversation) ORDER BY number
"""
_DROP = "DELETE FROM notes WHERE scope_id = :scope_id AND conversation = coalesce(:conversation, conversation)"

_DROP_ONE = "DELETE FROM notes WHERE scope_id = :scope_id AND number = :number"
_OWNERS = "SELECT project, user FROM scopes WHERE id IN (SELECT scope_id FROM notes) ORDER BY user"


@dataclass(frozen=True, kw_only=True)
class Notes:
    """Lines that a user wrote beside a conversation; the file `{user}/{number}` has the text again."""

    db: Engine
    root: Path

    def folder(self, scope: Scope) -> Path:
        return self.root / scope.project / scope.user

    async def write(self, owner: Scope, text: str, *, conversation: str = "tea", days: int = 0) -> int:
        """Write a note, unless there is one like it; how many are new."""
        if text in await self.texts(owner):
            return 0

        def put(sql: Sql) -> int:
            within = enter_scope(sql, owner)
            number = int(within.value(_NEXT))
            file = self.folder(owner) / f"{number}.txt"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            of: dict[str, Value] = {
                "number": number,
                "conversation": conversation,
                "text": text,
                "days": days,
                "file": file.name,
            }
            return within.run(_PUT, **of)

        return await self.db.write(owner, put)

    async def rows(self, scope: Scope) -> list[tuple[Any, ...]]:
        return await self.db.read(scope.owner, lambda sql: sql.rows(_ROWS, conversation=scope.conversation))

    async def texts(self, scope: Scope) -> list[str]:
        """The notes of a user, of those whose file says the same."""
        rows = await self.rows(scope)
        return [text for _, _, text, _, file in rows if (self.folder(scope) / file).read_text() == text]

    async def forget(self, scope: Scope) -> Amounts:
        rows = await self.rows(scope)
        for row in rows:
            (self.folder(scope) / row[-1]).unlink(missing_ok=True)  # first: the row tells of it until it is gone
        await self.db.write(scope.owner, lambda sql: sql.run(_DROP, conversation=scope.conversation))
        await self.db.empty_log()
        if (folder := self.folder(scope)).exists() and not [*folder.iterdir()]:
            folder.rmdir()
        return {"notes": len(rows)}

    async def export(self, scope: Scope, archive: Archive) -> None:
        for row in await self.rows(scope):
            await asyncio.to_thread(archive.put, f"notes/{row[-1]}", [(self.folder(scope) / row[-1]).read_bytes()])

    @asynccontextmanager
    async def giving(self, scope: Scope, user: str) -> AsyncIterator[bool]:
        old, new = self.folder(scope), self.folder(Scope(project=scope.project, user=user))
        if is_moved := old.exists():
            old.rename(new)
        try:
            yield new.exists()
        except BaseException:
            if is_moved:
                new.rename(old)
            raise

    async def count(self, scope: Scope) -> Amounts:
        return {"notes": len(await self.rows(scope))}

    async def counts(self) -> Amounts:
        return {"notes": await self.db.read(None, lambda sql: sql.value("SELECT count(*) FROM notes"))}

    async def prune(self, days: int, dry_run: bool) -> int:
        return await self._drop_older(days, dry_run=dry_run)

    async def expire(self, dry_run: bool) -> Amounts:
        return {"notes": await self._drop_older(90, dry_run=dry_run)}

    async def owners(self) -> Sequence[Scope]:
        rows = await self.db.read(None, lambda sql: sql.rows(_OWNERS))
        return [Scope(project=project, user=user) for project, user in rows]

    async def users(self, project: Project) -> Sequence[Scope]:
        return [owner for owner in await self.owners() if owner.project == project.project]

    async def pages(self, owner: Scope) -> AsyncIterator[Sequence[Mapping[str, Any]]]:
        for _, conversation, text, days, _ in await self.rows(owner):
            yield [{"user_id": owner.user, "conversation": conversation, "text": text, "days": days}]

    async def add(self, owner: Scope, records: Sequence[Mapping[str, Any]]) -> int:
        return sum(
            [
                await self.write(owner, one["text"], conversation=one["conversation"], days=one["days"])
                for one in records
            ]
        )

    async def rehearse(self, owner: Scope, records: Sequence[Mapping[str, Any]]) -> Rehearsed:
        known = await self.texts(owner)
        return Rehearsed(plan_id=None, applied=(), others=sum(one["text"] not in known for one in records))

    async def _drop_older(self, days: int, *, dry_run: bool) -> int:
        dropped = 0
        for owner in await self.owners():
            for number, _, _, age, file in await self.rows(owner):
                if age > days:
                    dropped += 1
                    if not dry_run:
                        (self.folder(owner) / file).unlink()
                        await self.db.write(owner, partial(_drop_one, number=number))
        await self.db.empty_log()
        return dropped


def _drop_one(sql: Sql, number: int) -> int:
    return sql.run(_DROP_ONE, number=number)


def open_notes(stores: Stores) -> OpenHolding:
    notes = Notes(db=stores.memory.database, root=stores.settings.storage.data_dir / "notes")
    return OpenHolding(
        name="note",
        forget=notes.forget,
        export=notes.export,
        giving=notes.giving,
        count=notes.count,
        counts=notes.counts,
        prune=notes.prune,
        expire=notes.expire,
        exchange=notes,
    )


def notes_of(parts: Parts) -> Notes:
    return Notes(db=parts.memory.database, root=parts.settings.storage.data_dir / "notes")


@contextmanager
def registered(*others: Holding) -> Iterator[None]:
    """The program with this holding, and with others that nothing opens."""
    register(NOTES)
    opens(NOTES)(open_notes)
    try:
        yield
    finally:
        unregister([NOTES, *others])


def unregister(gone: Collection[Holding]) -> None:
    for holding in gone:
        holdings._HOLDINGS.pop(holding.name, None)
        open_holdings._OPENING.pop(holding.name, None)
        for name in holding.tables:
            tables.TABLES.pop(name, None)


async def make_table(data_dir: Path) -> None:
    """Make its table, which a step of the schema would make."""
    database = open_database(data_dir / DATABASE_FILE)
    await database.write(None, lambda sql: sql.run(TABLE))
    await database.aclose()
