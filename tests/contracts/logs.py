"""Every back-end of the log, by name: each opens the log of a user in a folder."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mnemoir.core.clock import Clock
from mnemoir.core.scope import Scope
from mnemoir.storage.conversations.sqlite_sessions import MemoryStorage
from mnemoir.storage.sql.conversations.log import ScopeRows, SqlLog
from mnemoir.storage.sql.engine import Engine
from tests.contracts.backends import ENGINES


@dataclass(frozen=True, kw_only=True)
class OpenedLogs:
    """`of` opens the log of a user; `database` is that of all users, None where each has a file."""

    of: Callable[[Scope], SqlLog]
    database: Engine | None = None
    encrypts: bool = False


OpenLogs = Callable[[Path, Clock], AbstractContextManager[OpenedLogs]]


@contextmanager
def _files(folder: Path, clock: Clock) -> Iterator[OpenedLogs]:
    with ExitStack() as stack:
        yield OpenedLogs(
            of=lambda scope: stack.enter_context(
                MemoryStorage(folder / f"{scope.user}.db", clock=clock, on_corruption="raise")
            )
        )


@contextmanager
def _rows(name: str, folder: Path, clock: Clock) -> Iterator[OpenedLogs]:
    stack = AsyncExitStack()
    with asyncio.Runner() as runner:
        database = runner.run(stack.enter_async_context(ENGINES[name](folder)))
        try:
            yield OpenedLogs(
                of=lambda scope: SqlLog(ScopeRows(database, scope), clock),
                database=database,
                encrypts=name.endswith("encrypted"),
            )
        finally:
            runner.run(stack.aclose())


LOGS: Mapping[str, OpenLogs] = {
    "file": _files,
    **{name: partial(_rows, name) for name in ENGINES},
}
