"""The audit log of a data directory: who did what with keys, settings and all of somebody's data.

An act that goes through several files has an entry before it, and another with its result behind it. Refusals are
gathered for some seconds, and written once with their number. So are reads of a user's data by keys that are bound to
no user, for the rest of the hour. The log is in the access file, and is off as long as no key is needed.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import partial
from typing import Any

import structlog

from mnemoir.access.access_file import AccessFile
from mnemoir.core.atomic_file import append_line
from mnemoir.core.audit import AuditEntry
from mnemoir.core.clock import Clock, to_text, utc_now
from mnemoir.core.errors import StorageUnavailable
from mnemoir.core.scope import Principal, acting
from mnemoir.core.users import User
from mnemoir.settings import Settings
from mnemoir.storage.disk_files import file_errors
from mnemoir.storage.sql.access.audit_log import SqlAuditLog

_GATHERED_S = 5.0
_READ = "users.read"
_HOUR_S = 3600
_MOST_READ = 10_000  # users gathered; more are written at once
_PATIENCE = timedelta(minutes=10)  # for an act that is under way, such as a large export
_UPKEEP_S = 3600.0
_ANCHORED = re.compile(r"^(\S+) (\d{1,18}) ([0-9a-f]{64})$", re.MULTILINE)
_log = structlog.get_logger(__name__)


class Audit:
    """Writes and reads the log. Raises StorageUnavailable."""

    def __init__(self, settings: Settings, file: AccessFile, clock: Clock = utc_now) -> None:
        self.is_on = settings.audit.enabled
        self._file = file
        self._clock = clock
        self._kept = timedelta(days=settings.audit.keep_days)
        self._anchor = settings.audit.anchor
        self._refused: Counter[tuple[str, str, str, str, str, str]] = Counter()
        self._flush: asyncio.TimerHandle | None = None
        self._reads: Counter[tuple[str, str, str]] = Counter()
        self._hour_ends: asyncio.TimerHandle | None = None
        self._flushing: set[asyncio.Task[None]] = set()
        self._upkeep: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Write the anchor, now and every hour."""
        if self.is_on:
            self._upkeep = asyncio.create_task(self._keep_up(), name="upkeep of the audit log")

    async def begin(self, action: str, target: str, address: str, user: str, tenant: str) -> int:
        """Write down an act before it, which is about a user's data in that tenant; the number of its entry."""
        return await self._put(replace(self._entry(action, target, "begun", address, user), tenant=tenant))

    async def end(
        self, number: int, action: str, target: str, result: str, address: str, user: str, tenant: str
    ) -> None:
        """Write down how the act of that number ended."""
        await self._put(replace(self._entry(action, target, result, address, user, of=number), tenant=tenant))

    async def note(
        self, principal: Principal, action: str, target: str, address: str, *, result: str = "done"
    ) -> None:
        """Write down an act of somebody that has ended with this entry."""
        entry = self._entry(action, target, result, address, principal.user or "")
        await self._put(replace(entry, tenant=principal.tenant, actor=principal.key))

    async def note_lockout(self, user: User | None, address: str) -> None:
        """Write down that too many tries failed for a name, which may be nobody's."""
        entry = self._entry("sign_in.locked", "", "done", address, "")
        if user is not None:
            entry = replace(entry, tenant=user.grant.tenant, target=user.id, user=user.grant.memory_user or "")
        await self._put(entry)

    def note_refusal(self, status: int, action: str, address: str) -> None:
        """Note a refusal; it is written within seconds, with the number of those like it."""
        principal = acting.get().principal
        about = principal.user or ""
        self._refused[principal.tenant, principal.key or "anybody", about, action, str(status), address] += 1
        if self._flush is None:
            self._flush = asyncio.get_running_loop().call_later(
                _GATHERED_S, lambda: self._begin(self._write_refused())
            )

    def has_read(self) -> None:
        """Note whose data the present request has read; written once a key, user and hour, with how often."""
        act = acting.get()
        for user in act.users_read:
            self._reads[act.principal.tenant, act.principal.key, user] += 1
        if len(self._reads) >= _MOST_READ:
            self._begin(self._write_reads())
        elif self._hour_ends is None and act.users_read:
            left_s = _HOUR_S - self._clock().timestamp() % _HOUR_S
            self._hour_ends = asyncio.get_running_loop().call_later(left_s, lambda: self._begin(self._write_reads()))

    async def newest(
        self,
        tenant: str | None,
        *,
        limit: int,
        before: int | None,
        action: str | None,
        actor: str | None = None,
        day: date | None = None,
    ) -> Sequence[AuditEntry]:
        """Entries of a tenant, None for all, newest first; of this `action`, `actor` and day in UTC, if given."""
        log, _ = await asyncio.to_thread(self._file.audit_log)
        asked = partial(log.newest, tenant, limit=limit, before=before, action=action, actor=actor, day=day)
        return await asyncio.to_thread(asked)

    def problems(self) -> list[str]:
        """Where the log was changed, and acts without a result; [] for a sound log. Blocks.

        It is compared with the anchor, as far as there is one.
        """
        log, key = self._file.audit_log()
        return [*log.problems(key, open_before=self._clock() - _PATIENCE), *self._differences(log)]

    async def write_gathered(self) -> None:
        """Write the refusals and reads that were gathered, now."""
        await self._write_refused()
        await self._write_reads()

    async def aclose(self) -> None:
        """Write what was gathered."""
        if self._upkeep is not None:
            self._upkeep.cancel()
        await self.write_gathered()
        if self._flushing:
            await asyncio.wait(self._flushing)

    def _entry(
        self, action: str, target: str, result: str, address: str, user: str, of: int | None = None
    ) -> AuditEntry:
        act = acting.get()
        return AuditEntry(
            at=to_text(self._clock()),
            tenant=act.principal.tenant,
            actor=act.principal.key or "anybody",
            action=action,
            target=target,
            user=user or act.principal.user or "",
            result=result,
            request_id=act.request_id,
            address=address,
            of=of,
        )

    def _differences(self, log: SqlAuditLog) -> list[str]:
        """The first line of the anchor that the log does not continue; [] without one."""
        if self._anchor is None or not self._anchor.exists():
            return []
        with file_errors(self._anchor):
            lines = _ANCHORED.findall(self._anchor.read_text("utf-8", "replace"))
        for at, number, chain in lines:
            if not log.has(int(number), bytes.fromhex(chain)):
                return [f"entry {number} is missing or was changed: it stands in {self._anchor} since {at}"]
        return []

    async def _put(self, *entries: AuditEntry) -> int:
        def put() -> int:
            log, key = self._file.audit_log()
            return log.put(entries, key)[-1]

        return await asyncio.to_thread(put)

    def _begin(self, writing: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(writing, name="audit of what was gathered")
        self._flushing.add(task)
        task.add_done_callback(self._flushing.discard)

    async def _write_refused(self) -> None:
        _cancel(self._flush)
        (refused, self._refused), self._flush = (self._refused, Counter()), None
        at = to_text(self._clock())
        entries = [
            AuditEntry(
                at=at,
                tenant=tenant,
                actor=actor,
                action=action,
                user=user,
                result=status,
                address=address,
                count=count,
            )
            for (tenant, actor, user, action, status, address), count in refused.items()
        ]
        await self._write(entries, "refusals")

    async def _write_reads(self) -> None:
        _cancel(self._hour_ends)
        (reads, self._reads), self._hour_ends = (self._reads, Counter()), None
        at = to_text(self._clock())
        entries = [
            AuditEntry(at=at, tenant=tenant, actor=actor, action=_READ, user=user, result="done", count=n)
            for (tenant, actor, user), n in reads.items()
        ]
        await self._write(entries, "reads")

    async def _write(self, entries: Sequence[AuditEntry], what: str) -> None:
        try:
            if entries:
                await self._put(*entries)
        except StorageUnavailable as exc:
            _log.warning("not written to the audit log", what=what, count=len(entries), cause=exc.message)

    async def _keep_up(self) -> None:
        while True:
            try:
                await asyncio.to_thread(self.look_after)
            except (StorageUnavailable, OSError) as exc:
                _log.warning("audit log not looked after", cause=str(exc))
            await asyncio.sleep(_UPKEEP_S)

    def prune(self) -> None:
        """Remove entries that are older than they are kept. Blocks."""
        if self.is_on and self._file.existing() is not None:
            log, key = self._file.audit_log()
            log.prune(self._clock() - self._kept, key)

    def look_after(self) -> None:
        """Append the end of the chain to the anchor. Blocks."""
        if self._anchor is not None and self._file.existing() is not None:
            log, _ = self._file.audit_log()
            number, chain = log.head()
            append_line(self._anchor, f"{to_text(self._clock())} {number} {chain.hex()}")


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
