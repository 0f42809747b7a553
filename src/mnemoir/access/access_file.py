"""The database that says who may call: tenants, keys, people, sessions, and the log of what was done.

It is a file of the data directory, or tables beside those of memories. The command line and other servers change it
beside a running server: a change counts within a second, one of this process at once. A file is not made before it is
needed. The pepper of the hashes in it is a setting, or a file of mode 0600 that is made with the first key or user.
"""

import asyncio
import hmac
import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from time import monotonic
from typing import Generic, TypeVar

from mnemoir.access.pepper import Pepper
from mnemoir.core.audit import AuditEntry
from mnemoir.core.clock import Clock, to_text, utc_now
from mnemoir.core.data_directory import ACCESS_FILE
from mnemoir.core.errors import StorageDamaged, StorageUnavailable
from mnemoir.core.scope import acting
from mnemoir.settings import Settings
from mnemoir.storage.databases import CountedFile, Database, DirectoryIdentity, databases
from mnemoir.storage.disk_files import prepare_folder
from mnemoir.storage.sql.access.api_keys import Note, SqlApiKeys
from mnemoir.storage.sql.access.audit_log import SqlAuditLog, append

_AUDIT = "audit"  # the purpose of the key of the audit log's chain
NO_KEYS_LEFT = "has neither keys nor people any more"  # of a file that must be there
_LOOKED_EVERY_S = 1.0  # at a file: two looks cost more than all else of recognising a key
_NEVER_LOOKED_AT = object()
_MOST_KEPT = 10_000
_NOTED_EVERY = timedelta(minutes=1)
_LONG_AGO = datetime.min.replace(tzinfo=UTC)
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Credentials:
    """Whether a key or user was ever made, whether none is needed nevertheless, and how many count, at most two."""

    were_made: bool = False
    are_off: bool = False
    count: int = 0


class AccessFile:
    """Thread-safe and blocking; every method may raise StorageUnavailable."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock = utc_now,
        ticks: Callable[[], float] = monotonic,
        identity: DirectoryIdentity | None = None,
        opener: Database | None = None,
    ) -> None:
        """Opens the file, if it is there. `ticks` are seconds that only grow; `identity` is that of the directory.

        `opener` opens it, None for that of the settings. Raises StorageDamaged where keys or people were made, and
        are not there.
        """
        self._folder = settings.storage.data_dir
        self._identity = identity or DirectoryIdentity(
            settings.storage.data_dir, settings.memory.conversations_folder
        )
        self._place = (opener or databases(settings.storage.dsn)).access_place(
            self._folder / ACCESS_FILE, self._identity
        )
        self._pepper = Pepper(settings)
        self._clock = clock
        self._ticks = ticks
        self._looked_at = -math.inf
        self._writes = 0  # of this process, when the file was looked at
        self._lock = threading.Lock()
        self._file: CountedFile | None = None
        self._state: object | None = _NEVER_LOOKED_AT
        self._version = 0
        self.credentials = Credentials()  # as of the last look
        self._notes = ThreadPoolExecutor(1, thread_name_prefix="key-use")
        self._warming: list[Callable[[], object]] = []
        if self._place.is_remote:
            self._file = self._place.open()
            self._place.follow(self._note_change)
        self._look()

    @property
    def name(self) -> str:
        """What errors call it."""
        return self._place.name

    @property
    def version(self) -> int:
        """A number that grows with every change of the file; 0 without one. What was read before is then old."""
        with self._lock:
            self._look()
            return self._version if self._file is not None else 0

    @property
    def was_there(self) -> bool:
        """Whether there was a file at the last look. Costs nothing."""
        return self._file is not None

    @property
    def is_remote(self) -> bool:
        """Whether to look something up may take as long as a network does."""
        return self._place.is_remote

    def warm(self, work: Callable[[], object]) -> None:
        """Run `work`, which looks up what the loop asks for, now and behind each change, where that may take long."""
        if self._place.is_remote:
            self._warming.append(work)
            work()

    def look(self, *, now: bool = False) -> None:
        """Notice changes, if the last look was a second ago; a look `now` misses nothing."""
        if now:
            self._place.state(now=True)  # nobody else has to wait for that
        with self._lock:
            self._look(now=now)

    def existing(self) -> CountedFile | None:
        """The file; None without one. The caller does not close it."""
        with self._lock:
            self._look()
            return self._file

    def open_or_create(self) -> CountedFile:
        """The file; made if there is none. The caller does not close it."""
        with self._lock:
            if self._file is None:
                self._place.refuse_loss(was_open=False)
                self._file = self._place.open()
            return self._file

    @property
    def pepper(self) -> bytes:
        """The pepper of all hashes; made if there is none."""
        if self._pepper.is_known:
            return self._pepper.read()
        with self._lock:
            if self._file is not None and SqlApiKeys(self._file).state()[0]:
                return self._pepper.read()  # it belongs to keys, and must be there
            prepare_folder(self._folder)
            self._identity.ensure()  # a pepper without an identity would be what is left of a directory
            return self._pepper.read_or_create()

    def secret_for(self, purpose: str) -> bytes:
        """A secret of this data directory for one purpose; it is made with the first use."""
        return hmac.digest(self.pepper, purpose.encode(), "sha256")

    def check_pepper(self) -> None:
        """Raise StorageUnavailable where there are keys or people, and the pepper is not theirs, by the audit log."""
        file = self.existing()
        if file is not None and self.credentials.were_made and not SqlAuditLog(file).fits(self.secret_for(_AUDIT)):
            raise StorageUnavailable(
                f"{self._pepper.place} is not the secret that the keys and people of {self._place.name} were made "
                "with, so none of them is recognised. Put the former one back, from a backup if need be; else make "
                "new keys."
            )

    def soon(self, work: Callable[[], object]) -> None:
        """Run `work` in the thread that notes uses."""
        self._notes.submit(work)

    def audit_log(self) -> tuple[SqlAuditLog, bytes]:
        """The audit log in the file, and the key of its chain; made if there is none."""
        key = self.secret_for(_AUDIT)
        return SqlAuditLog(self.open_or_create()), key

    def entry(self, action: str, tenant: str, target: str, user: str = "", result: str = "done") -> AuditEntry:
        """An entry of the audit log for an act of the current caller."""
        act = acting.get()
        return AuditEntry(
            at=to_text(self._clock()),
            tenant=tenant,
            actor=act.principal.key or ("anybody" if act.request_id else "command line"),
            action=action,
            target=target,
            user=user,
            result=result,
            request_id=act.request_id,
            address=act.address,
        )

    def note(self, action: str, tenant: str, target: str, user: str = "") -> Note:
        """What writes down a change of the file, by the current caller, in the transaction of that change."""
        key = self.secret_for(_AUDIT)
        entry = self.entry(action, tenant, target, user)
        return lambda sql: append(sql, entry, key)

    def note_act(self, action: str, user: str | None, tenant: str, result: str, of: int | None = None) -> int | None:
        """Write down an act of the command line about a user, None for all, or the result `of` one; its number.

        None where there is no audit log.
        """
        if self.existing() is None:
            return None
        log, key = self.audit_log()
        entry = self.entry(action, tenant, user or "all", user or "", result)
        return log.put([replace(entry, of=of)], key)[0]

    async def aclose(self) -> None:
        """Write down what was used last, and close the file."""
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        """The same; blocks."""
        self._notes.shutdown()
        with self._lock, suppress(StorageUnavailable):  # the first key or user leaves a mark, else the next look
            self._look(now=True)
        if self._file is not None:  # outside of the lock, as who notes changes may wait for it
            self._file.close()

    def _note_change(self) -> None:
        """Read what counts now, in a thread that nobody waits for: what a look needs is then here already."""
        assert self._file is not None
        self.credentials = self._credentials_in(self._file)
        self._version += 1
        for work in self._warming:
            work()

    def _look(self, *, now: bool = False) -> None:
        if self._place.is_remote:
            try:
                self._place.state()
            except StorageUnavailable as exc:
                if self.credentials.were_made or isinstance(exc, StorageDamaged):  # else nobody needs a key
                    raise
            return
        ticks, writes = self._ticks(), 0 if self._file is None else self._file.writes
        is_recent = writes == self._writes and ticks - self._looked_at < _LOOKED_EVERY_S
        if is_recent and self.credentials.were_made and not now:
            return
        state = self._place.state()
        is_gone = self._file is not None and state is None  # also one that was made and lost since the last look
        if state == self._state and not is_gone:
            self._looked_at, self._writes = ticks, writes
            return
        self._looked_at = -math.inf  # what fails now is looked at again by the next request
        self._place.refuse_loss(was_open=self._file is not None)
        if self._file is None and state is not None:
            self._file = self._place.open()
        self._version += 1
        if self._file is not None:
            self.credentials = self._credentials_in(self._file)
        self._state = state  # of before the reading: what was written meanwhile is seen at the next look
        self._looked_at, self._writes = ticks, writes

    def _credentials_in(self, file: CountedFile) -> Credentials:
        """What is in the file, which must be there from the first key or user on, and have one."""
        found = Credentials(*SqlApiKeys(file).state())
        if not found.were_made and self._identity.is_expected(ACCESS_FILE):
            found = Credentials(*SqlApiKeys(file).state())  # the first one may have come between
        if found.were_made:
            self._identity.expect(ACCESS_FILE)
        elif self._identity.is_expected(ACCESS_FILE):
            raise self._identity.membership(ACCESS_FILE).loss_error(self._place.name, NO_KEYS_LEFT)
        return found


class LastUse:
    """When a token that was looked up was used last, as it is noted: at most once a minute, by several processes."""

    __slots__ = ("_due_at", "_file")

    def __init__(self, file: AccessFile, at: datetime | None) -> None:
        self._file = file
        self._due_at = _LONG_AGO if at is None else at + _NOTED_EVERY

    def note(self, now: datetime, work: Callable[[CountedFile], object]) -> None:
        """Have `work` note a use of now behind the request, unless one of the last minute is noted."""
        if now >= self._due_at:
            self._due_at = now + _NOTED_EVERY
            self._file.soon(partial(work, self._file.open_or_create()))


class LookedUp(Generic[K, V]):
    """What was looked up in the file, until that changes: at most 10,000 values by their names. Thread-safe."""

    def __init__(self, file: AccessFile, look_up: Callable[[K], V]) -> None:
        self._file = file
        self._look_up = look_up
        self._lock = threading.Lock()
        self._version = 0
        self._values: OrderedDict[K, V] = OrderedDict()

    def __getitem__(self, name: K) -> V:
        """The value of now. Costs a look at the file, and more only for what is not known yet."""
        version = self._file.version  # before the look-up, so that a change meanwhile is not missed
        with self._lock:
            if version > self._version:
                self._values.clear()
                self._version = version
            if name in self._values:
                return self._values[name]
        found = self._look_up(name)  # nobody else has to wait for it
        with self._lock:
            if version == self._version:
                self._values[name] = found
                if len(self._values) > _MOST_KEPT:
                    self._values.popitem(last=False)
        return found
