"""The audit log of a data directory: who did what with keys, settings and all of somebody's data.

An act that goes through several files has an entry before it, and another with its result behind it. Refusals are
gathered for some seconds, and written once with their number. The log is in the file of the keys, and is off as long
as no key is needed.
"""

import asyncio
import os
from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta
from functools import partial
from pathlib import Path

import structlog

from mnemoir.app.api_keys import ApiKeys
from mnemoir.core.atomic_file import append_file
from mnemoir.core.audit import AuditEntry
from mnemoir.core.clock import Clock, to_text, utc_now
from mnemoir.core.errors import StorageUnavailable
from mnemoir.core.scope import acting
from mnemoir.settings import Settings

_GATHERED_S = 5.0
_PATIENCE = timedelta(minutes=10)  # for an act that is under way, such as a large export
_UPKEEP_S = 3600.0
_log = structlog.get_logger(__name__)


class Audit:
    """Writes and reads the log. Raises StorageUnavailable."""

    def __init__(self, settings: Settings, keys: ApiKeys, clock: Clock = utc_now) -> None:
        self.is_on = settings.audit.enabled
        self._keys = keys
        self._clock = clock
        self._kept = timedelta(days=settings.audit.keep_days)
        self._anchor = settings.audit.anchor
        self._refused: Counter[tuple[str, str, str, str, str]] = Counter()
        self._flush: asyncio.TimerHandle | None = None
        self._flushing: set[asyncio.Task[None]] = set()
        self._upkeep: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Remove old entries and write the anchor, now and every hour."""
        if self.is_on:
            self._upkeep = asyncio.create_task(self._keep_up(), name="upkeep of the audit log")

    async def begin(self, action: str, target: str, address: str) -> int:
        """Write down an act before it; the number of its entry."""
        return await self._put(self._entry(action, target, "begun", address))

    async def end(self, number: int, action: str, target: str, result: str, address: str) -> None:
        """Write down how the act of that number ended."""
        await self._put(self._entry(action, target, result, address, of=number))

    def refused(self, status: int, action: str, address: str) -> None:
        """Note a refusal; it is written within seconds, with the number of those like it."""
        principal = acting.get().principal
        self._refused[principal.tenant, principal.key or "anybody", action, str(status), address] += 1
        if self._flush is None:
            self._flush = asyncio.get_running_loop().call_later(_GATHERED_S, self._begin_flush)

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
        """Entries of a tenant, None for all, newest first; only of this `action`, `actor` and UTC day, if given."""
        log, _ = await asyncio.to_thread(self._keys.audit_log)
        asked = partial(log.newest, tenant, limit=limit, before=before, action=action, actor=actor, day=day)
        return await asyncio.to_thread(asked)

    def problems(self) -> list[str]:
        """Where the log was changed, and acts without a result; [] for a sound log. Blocks."""
        log, key = self._keys.audit_log()
        return log.problems(key, open_before=self._clock() - _PATIENCE)

    async def aclose(self) -> None:
        """Write the refusals that were gathered."""
        if self._upkeep is not None:
            self._upkeep.cancel()
        if self._flush is not None:
            self._flush.cancel()
            await self._write_refused()
        if self._flushing:
            await asyncio.wait(self._flushing)

    def _entry(self, action: str, target: str, result: str, address: str, of: int | None = None) -> AuditEntry:
        act = acting.get()
        return AuditEntry(
            at=to_text(self._clock()),
            tenant=act.principal.tenant,
            actor=act.principal.key or "anybody",
            action=action,
            target=target,
            result=result,
            request_id=act.request_id,
            address=address,
            of=of,
        )

    async def _put(self, *entries: AuditEntry) -> int:
        def put() -> int:
            log, key = self._keys.audit_log()
            return log.put(entries, key)[-1]

        return await asyncio.to_thread(put)

    def _begin_flush(self) -> None:
        self._flush = None
        task = asyncio.create_task(self._write_refused(), name="audit of refusals")
        self._flushing.add(task)
        task.add_done_callback(self._flushing.discard)

    async def _write_refused(self) -> None:
        refused, self._refused = self._refused, Counter()
        at = to_text(self._clock())
        entries = [
            AuditEntry(at=at, tenant=tenant, actor=actor, action=action, result=status, address=address, count=count)
            for (tenant, actor, action, status, address), count in refused.items()
        ]
        try:
            if entries:
                await self._put(*entries)
        except StorageUnavailable as exc:
            _log.warning("refusals not written to the audit log", count=refused.total(), cause=exc.message)

    async def _keep_up(self) -> None:
        while True:
            try:
                await asyncio.to_thread(self.look_after)
            except (StorageUnavailable, OSError) as exc:
                _log.warning("audit log not looked after", cause=str(exc))
            await asyncio.sleep(_UPKEEP_S)

    def look_after(self) -> None:
        """Remove old entries, and append the end of the chain to the anchor. Blocks."""
        if not self._keys.has_file:
            return
        log, _ = self._keys.audit_log()
        log.prune(self._clock() - self._kept)
        if self._anchor is not None:
            number, chain = log.head()
            _append(self._anchor, f"{to_text(self._clock())} {number} {chain.hex()}\n")


def _append(path: Path, line: str) -> None:
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        append_file(folder, path.name, line.encode())
    finally:
        os.close(folder)
