"""A program that dies: it deletes all memories of a user and prints a line after each transaction.

`python -m tests.storage.sqlite.erasing_program <database>`
"""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from mnemoir.core.memories import Provenance, SourceTurn
from mnemoir.core.scope import Scope
from mnemoir.storage.sql import SqlMemoryStore, forgetting
from mnemoir.storage.sql.engine import Sql
from mnemoir.storage.sqlite import SqliteEngine, open_database
from tests.contracts.words import MIRA, message

T = TypeVar("T")
SECRET = "xyzzy"
MEMORIES = 60


class TellingEngine(SqliteEngine):
    """Tells of each transaction that it was committed."""

    async def write(self, scope: Scope | None, work: Callable[[Sql], T]) -> T:
        done = await super().write(scope, work)
        print("committed", flush=True)
        return done


async def main(path: Path) -> None:
    database = open_database(path)
    database.__class__ = TellingEngine
    store = SqlMemoryStore(database)
    said = [message(f"I like {SECRET} number {number}") for number in range(MEMORIES)]
    turns = [SourceTurn(role="user", text=SECRET)]
    await store.commit(MIRA, said, Provenance(reason="verbatim", turns=turns))
    forgetting._ROWS_AT_ONCE = 10
    await store.delete_all(MIRA)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
