"""The store of the last runs, written outside the requests.

The begin or end of a run only appends to a list; one thread writes the list, a batch in each transaction, and serves
the reads. So a slow disk loses traces, the oldest waiting first, and never delays a request.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import date, timedelta
from operator import itemgetter
from pathlib import Path
from typing import TypeVar

import orjson
import structlog

from mnemoir.core.clock import Clock, utc_now
from mnemoir.core.errors import NotFound, StorageUnavailable
from mnemoir.core.runs import NodeTrace, RunTrace, without_texts
from mnemoir.core.scope import Scope
from mnemoir.core.text import holds
from mnemoir.ports.holdings import DAILY_DAYS
from mnemoir.ports.run_store import ALL_RUNS, RunFilter, RunStore, RunSummary, every_scope
from mnemoir.storage.sql.engine import FileEngine, Sql, queries
from mnemoir.storage.sql.rows import as_json
from mnemoir.storage.sql.run_feed import RunFeed, Told
from mnemoir.storage.sql.run_rows import (
    OwnerDay,
    add_tokens,
    owner_of,
    row_of,
    run_of,
    summary_in,
    summary_of,
    trace_text,
)
from mnemoir.storage.sql.run_workers import BEAT_S, RunWorkers

T = TypeVar("T")
_log = structlog.get_logger(__name__)
_QUERIES = queries("runs/runs")
_GATHERING_S = 0.25  # a run that begins and ends within it is written once
_MOST_GATHERED = 128  # so many are written sooner
_SLACK = 4  # a quarter more than configured may be kept: dropping a few at each write costs as much as the write
_MOST_WAITING = 512
_MOST_KEPT_BYTES = 512 * 2**20  # of all traces: a thousand large ones must not fill a small disk
_OFF = "Run traces are switched off. Set runs.enabled to true."


class SqlRunStore:
    """Owns `file` and closes it. Create it in the running event loop, in which all of its methods must be called."""

    def __init__(
        self,
        file: FileEngine,
        path: Path,
        *,
        most_runs: int = 1000,
        keep_days: float = 7,
        most_bytes: int = _MOST_KEPT_BYTES,
        clock: Clock = utc_now,
    ) -> None:
        """`path` is that of the file, or where it would be. Raises StorageUnavailable. Blocks while it is opened."""
        self._file = file
        self._workers = RunWorkers(path)
        self._most_runs = most_runs
        self._most_bytes = most_bytes
        self._kept = timedelta(days=keep_days)
        self._clock = clock
        self._slack = max(1, most_runs // _SLACK)
        self._begun = 0
        self._file.write(self._prune)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="run-traces")
        self._under_way: dict[str, tuple[int, RunTrace]] = {}
        self._waiting: dict[str, tuple[int, RunTrace]] = {}
        self._something_waits = asyncio.Event()
        self._enough_waits = asyncio.Event()
        self._feed = RunFeed()
        self._has_lost = False
        self._closed = False
        self.left_out = 0  # traces that were not written
        self._writing = asyncio.create_task(self._write_on(), name="run traces")

    def note_begin(self, run: RunTrace) -> None:
        """Register a running trace, queue it for writing and notify followers."""
        self._begun += 1
        self._under_way[run.id] = (self._begun, run)
        self._put(self._begun, run)

    def note_node(self, run: RunTrace, node: NodeTrace) -> None:
        """Notify the followers of nodes of the begin, output or end of a node."""
        if self._feed.node_followers:
            self._feed.tell_node(run, node)

    def note_end(self, run: RunTrace) -> None:
        """Queue an ended run for writing and notify followers. A run forgotten while it ran stays forgotten."""
        number, _ = self._under_way.pop(run.id, (None, None))
        if number is not None:
            self._put(number, run)

    async def get(self, run_id: str, reaches: Callable[[Scope], bool] = every_scope) -> RunTrace | None:
        """See the port. What is not reached is not read, so its size shows in no time."""
        if run_id in self._under_way:
            if not reaches(self._under_way[run_id][1].scope):
                return None
            run = without_texts(self._under_way[run_id][1])
            return run_of(trace_text(run), status=run.status, error=run.error, question=run.question)

        def run_in_reach(sql: Sql) -> RunTrace | None:
            owner = sql.row(_QUERIES["scope_of_run"], id=_bindable(run_id))
            if owner is None or not reaches(Scope(tenant=owner[0], project=owner[1], user=owner[2])):
                return None
            row = sql.row(_QUERIES["run"], id=_bindable(run_id))
            return None if row is None else run_of(row[0], status=row[1], error=row[2], question=row[3])

        return await self._read(run_in_reach)

    async def latest(
        self, *, limit: int, before: str | None = None, only: RunFilter = ALL_RUNS
    ) -> Sequence[RunSummary]:
        """Runs, newest first; none before an id that is deleted, as older runs are deleted too."""
        projects = None if only.projects is None else as_json(only.projects)
        asked = {**asdict(only), "projects": projects, "before_id": before}
        words, error = asked.pop("words"), asked.pop("error")
        values = {name: None if value is None else _bindable(value) for name, value in asked.items()}

        def newest_summaries(sql: Sql) -> list[RunSummary]:
            numbers = _numbers(sql, words, error)
            return [*map(summary_in, sql.rows(_QUERIES["latest_runs"], **values, numbers=numbers, limit=limit))]

        found = await self._read(newest_summaries)
        return [summary_of(self._under_way[run.id][1]) if run.id in self._under_way else run for run in found]

    async def count(self) -> int:
        """The number of stored runs."""
        return await self._read(lambda sql: int(sql.row(_QUERIES["count_runs"])[0]))

    async def tokens(self, since: date) -> Mapping[str, tuple[int, int]]:
        """The tokens of each day with any."""
        rows = await self._read(lambda sql: sql.rows(_QUERIES["tokens"], since=since.isoformat()))
        return {day: (sent, received) for day, sent, received in rows}

    async def projects_of(self, tenant: str, user: str) -> Sequence[str]:
        """The projects with runs or tokens of a user, by name."""
        rows = await self._read(lambda sql: sql.rows(_QUERIES["projects_of"], tenant=tenant, user_id=user))
        return [project for (project,) in rows]

    async def tokens_of(self, scope: Scope) -> Mapping[str, tuple[int, int]]:
        """The tokens of each day of one user."""
        rows = await self._read(lambda sql: sql.rows(_QUERIES["tokens_of"], **owner_of(scope)))
        return {day: (sent, received) for day, sent, received in rows}

    def follow(self, *, nodes: bool = False, of: Callable[[Scope], bool] = every_scope) -> AsyncGenerator[Told, None]:
        """Runs as they begin and end, until the store is closed. Raises Overloaded when too many follow already."""
        return self._feed.follow(nodes=nodes, of=of)

    async def forget(self, scope: Scope) -> None:
        """Delete every run of the scope's user, or of its project when the user is ""; also waiting ones.

        For a scope with a conversation: the runs that answered in it or were shown memories, of any question.
        """

        def remove(sql: Sql) -> None:
            values = {**owner_of(scope), "conversation": scope.conversation and _bindable(scope.conversation)}
            sql.run(_QUERIES["forget_runs"], **values, in_memory=as_json(in_memory))
            if scope.conversation is None:
                sql.run(_QUERIES["forget_tokens"], **owner_of(scope))

        def remove_and_empty_log() -> None:
            self._file.write(remove)
            self._file.empty_log()

        known = {**self._under_way, **self._waiting}
        in_memory = [run_id for run_id, (_, run) in known.items() if _belongs(run, scope)]
        for run_id in in_memory:  # their rows, if there are any, were written when they began
            self._under_way.pop(run_id, None)
            self._waiting.pop(run_id, None)
        await self._in_thread(remove_and_empty_log)

    async def drop_old(self) -> None:
        """Delete runs that are older than they are kept, and tokens of long ago."""
        now = self._clock()
        before, since = (now - self._kept).timestamp(), (now.date() - timedelta(days=DAILY_DAYS - 1)).isoformat()

        def drop(sql: Sql) -> None:
            sql.run(_QUERIES["drop_old_runs"], before=before)
            sql.run(_QUERIES["drop_old_tokens"], since=since)
            self._workers.end_lost(sql, now.timestamp())

        if self._waiting:
            await self._write_waiting()
        await self._in_thread(lambda: self._file.write(drop))

    async def aclose(self) -> None:
        """Write the waiting runs, end those still under way, and the feeds. May be called again."""
        if self._closed:
            return
        self._closed = True
        self._writing.cancel()
        self._feed.close()
        await self._write_waiting()
        try:
            await self._in_thread(self._leave)
        finally:
            self._thread.shutdown()

    def _put(self, number: int, run: RunTrace) -> None:
        if self._closed:
            return
        self._waiting.pop(run.id, None)
        if len(self._waiting) >= _MOST_WAITING:
            del self._waiting[next(iter(self._waiting))]
            self._lose(1)
        self._waiting[run.id] = (number, run)
        self._something_waits.set()
        if len(self._waiting) == _MOST_GATHERED:
            self._enough_waits.set()
        if self._feed.followers:
            self._feed.tell(summary_of(run), run.scope)

    async def _write_on(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(BEAT_S if self._under_way else None):
                    await self._something_waits.wait()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._enough_waits.wait(), _GATHERING_S)
            await self._write_waiting()

    async def _write_waiting(self) -> None:
        """Submit the waiting runs to the thread, which does one task after another."""
        self._something_waits.clear()
        self._enough_waits.clear()
        in_order = sorted(self._waiting.values(), key=itemgetter(0))
        batch, self._waiting = [self._as_it_stands(run) for _, run in in_order], {}
        under_way = list(self._under_way) if self._has_lost else None
        self._has_lost = False
        try:
            await self._in_thread(lambda: self._file.write(lambda sql: self._write(sql, batch, under_way)))
        except StorageUnavailable as exc:
            self._workers.note_failure()
            self._lose(len(batch))
            _log.warning("run traces not written", count=len(batch), error=exc.message)

    def _as_it_stands(self, run: RunTrace) -> RunTrace:
        """The run to write; a running one, which still changes, without its nodes, which are written at its end."""
        return replace(run, workflows=[]) if run.id in self._under_way else run

    def _write(self, sql: Sql, batch: Sequence[RunTrace], under_way: Sequence[str] | None) -> None:
        written_at = self._clock().timestamp()
        tokens: dict[OwnerDay, list[int]] = {}
        self._workers.note_own(sql, written_at)
        for run in batch:
            try:
                row = row_of(run)
            except (TypeError, ValueError, RecursionError) as exc:  # one invalid trace must not lose the others
                _log.error("run trace not written", run=run.id, kind=type(exc).__name__)
                continue
            sql.run(_QUERIES["put_run"], **row, worker=self._workers.own, written_at=written_at)
            self._undropped_bytes += len(row["trace"])
            if run.status != "running":
                add_tokens(tokens, row)
        for day, (sent, received) in sorted(tokens.items()):  # in one order: no two writers wait for each other
            sql.run(_QUERIES["add_tokens"], **day._asdict(), input_tokens=sent, output_tokens=received)
        if under_way is not None:
            self._workers.end_lost(sql, written_at, under_way)
        self._undropped += len(batch)
        is_due = self._undropped >= self._slack or self._undropped_bytes >= self._most_bytes // _SLACK
        if is_due:
            self._drop(sql)

    def _prune(self, sql: Sql) -> None:
        self._workers.end_lost(sql, self._clock().timestamp())
        self._drop(sql)

    def _leave(self) -> None:
        try:
            self._file.write(lambda sql: self._workers.leave(sql, self._clock().timestamp()))
        except StorageUnavailable as exc:
            _log.warning("end of runs under way not written", error=exc.message)
        try:
            self._file.close()
        finally:
            self._workers.let_go()

    def _drop(self, sql: Sql) -> None:
        sql.run(_QUERIES["drop_first_runs"], most=self._most_runs)
        sql.run(_QUERIES["drop_runs_over_size"], most_bytes=self._most_bytes)
        self._undropped = self._undropped_bytes = 0

    def _lose(self, count: int) -> None:
        self.left_out += count
        self._has_lost = True  # the stored row of such a run would otherwise stay "running"

    async def _read(self, look: Callable[[Sql], T]) -> T:
        """The result of `look` after everything queued so far is written."""
        if self._waiting:
            await self._write_waiting()
        return await self._in_thread(lambda: self._file.read(look))

    async def _in_thread(self, work: Callable[[], T]) -> T:
        try:
            outcome = asyncio.get_running_loop().run_in_executor(self._thread, work)
        except RuntimeError as exc:  # the thread is shut down
            raise StorageUnavailable(f"{self._file.name} is closed: the program is stopping.") from exc
        return await asyncio.shield(outcome)  # the thread finishes its task even when the caller is cancelled


class NoRuns:
    """The store when traces are switched off: it keeps nothing, and reads raise an error with the reason."""

    def note_begin(self, run: RunTrace) -> None:
        """Do nothing: runs are not stored."""

    def note_node(self, run: RunTrace, node: NodeTrace) -> None:
        """Do nothing: runs are not stored."""

    def note_end(self, run: RunTrace) -> None:
        """Do nothing: runs are not stored."""

    async def get(self, run_id: str, reaches: Callable[[Scope], bool] = every_scope) -> RunTrace | None:
        """Raises NotFound."""
        raise NotFound(_OFF, code="runs_off")

    async def latest(
        self, *, limit: int, before: str | None = None, only: RunFilter = ALL_RUNS
    ) -> Sequence[RunSummary]:
        """Raises NotFound."""
        raise NotFound(_OFF, code="runs_off")

    async def count(self) -> int:
        """Always 0."""
        return 0

    async def tokens(self, since: date) -> Mapping[str, tuple[int, int]]:
        """Always empty."""
        return {}

    async def projects_of(self, tenant: str, user: str) -> Sequence[str]:
        """Always empty."""
        return ()

    async def tokens_of(self, scope: Scope) -> Mapping[str, tuple[int, int]]:
        """Always empty."""
        return {}

    def follow(self, *, nodes: bool = False, of: Callable[[Scope], bool] = every_scope) -> AsyncGenerator[Told, None]:
        """Raises NotFound."""
        raise NotFound(_OFF, code="runs_off")

    async def forget(self, scope: Scope) -> None:
        """Nothing."""

    async def drop_old(self) -> None:
        """Nothing."""

    async def aclose(self) -> None:
        """Nothing."""


def _numbers(sql: Sql, words: str | None, error: str | None) -> str | None:
    """The runs whose question has all of these words and whose error has this text, as a JSON list; None for any."""
    found: list[set[int]] = []
    if words is not None:
        is_in = holds(words)
        found.append({number for number, question, _ in sql.each(_QUERIES["questions"]) if is_in(question)})
    if error is not None:
        wanted = error.lower()
        found.append({number for number, text, _ in sql.each(_QUERIES["errors"]) if wanted in text.lower()})
    return orjson.dumps(sorted(set.intersection(*found))).decode() if found else None


def _belongs(run: RunTrace, asked: Scope) -> bool:
    owner = run.scope
    in_project = (owner.tenant, owner.project) == (asked.tenant, asked.project)
    is_of_user = in_project and asked.user in ("", owner.user)
    return is_of_user and (
        asked.conversation in (None, owner.conversation)
        or any(node.memories or node.standing for node in run.nodes())
    )


def _bindable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()  # a request's id may contain invalid characters


_: tuple[type[RunStore], ...] = (SqlRunStore, NoRuns)  # checked, never run
