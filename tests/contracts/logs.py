"""Every back-end of the log, by name: each opens the log of a user in a folder; and short words for it."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mnemoir.core.clock import Clock
from mnemoir.core.conversations import MessageRecord, Summary
from mnemoir.core.scope import Scope
from mnemoir.storage.conversations.sqlite_sessions import MemoryStorage
from mnemoir.storage.sql.conversations.log import ScopeRows, SqlLog
from mnemoir.storage.sql.engine import Engine
from tests.contracts.backends import ENGINES
from tests.narrowing import present

MODEL = "m1"


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


def said(text: str, role: str = "user", **more) -> MessageRecord:
    return MessageRecord(**{"session_id": "s", "role": role, "content": text} | more)


def answered(text: str, **more) -> MessageRecord:
    return said(text, "assistant", **more)


def texts(log: SqlLog, session: str = "s") -> list[str]:
    """The thread."""
    return [message.text for message in log.load_messages(session)]


def everything(log: SqlLog) -> list[object]:
    return [log.message_tree("s", 9), log.list_sessions(), log.get_summary("s"), log.latest_references(9)]


def filled(log: SqlLog) -> tuple[list[int], list[str]]:
    """The ids and uids of three messages, in a session that has whatever one can have."""
    files = '[{"type": "image", "url": "u"}]'
    ids = log.append_messages("s", [said("Tea?", files=files), answered("Green.")], embedding_model=MODEL)
    ids += log.append_messages("s", [answered("Black.", importance=0.9)], parent_id=ids[0])
    claim = present(log.claim_summary("s", 60))
    assert log.put_summary("s", claim, Summary(upto_message_id=ids[0], text="On tea", token_count=2, model="m"))
    uids = [*log.uids_of(ids).values()]
    log.put_recalled({uids[0]: "[1]"})
    return ids, uids
