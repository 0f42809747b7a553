"""What each user has stored: memories, messages, and bytes of files.

It is counted where it is stored, so the figures cannot drift. A figure is kept for some seconds, and what is added
since its count began is added to it, so that a quota holds from one request to the next. What is stored while it is
counted may be in it twice, never not at all; so before anything is refused, that comes to its end, and it is counted
anew. Counting within the transactions that store would add a write to each of them, in several files.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from weakref import WeakSet

from mnemoir.core.cached import Cached
from mnemoir.core.usage import Stored
from mnemoir.ports.holdings import Amounts, OpenHolding

_COUNT_AGAIN_S = 5.0
_MEASURE_AGAIN_S = 60.0  # the folders of a thousand users are many files, and their memories many rows
_MOST_MEASURED = 1000  # users whose files were measured lately, of each kind
_MEASURED: tuple[Stored, ...] = ("attachment_bytes", "disk_bytes")


class _Count:
    """What was found, by user, and what was added since the count began."""

    def __init__(self) -> None:
        self.found: Counter[str] = Counter()
        self.added: Counter[str] = Counter()


class StoredAmounts:
    """Counts over the holdings of one server, by tenant. For one event loop. Raises StorageUnavailable."""

    def __init__(self, holdings: Sequence[OpenHolding]) -> None:
        self._holdings = holdings
        self._counted: dict[tuple[Stored, str], Cached[_Count]] = {}  # all users
        self._cached_sizes: dict[tuple[Stored, str, str], Cached[_Count]] = {}  # one user
        self._counts: dict[tuple[str, Stored], WeakSet[_Count]] = {}  # which anybody may still look at
        self._coming: dict[tuple[str, Stored], Counter[str]] = {}  # what is being stored
        self._adding: dict[tuple[str, Stored], set[asyncio.Future[None]]] = {}  # each done when it is stored

    async def amount(self, what: Stored, tenant: str, user: str | None, *, fresh: bool = False) -> int:
        """How much of something a user has in all projects; None for all users of the tenant.

        With `fresh` it is counted anew.
        """
        if user is not None and what in _MEASURED:
            cached = await self._measured_of(what, tenant, user)
            return (await _value(cached, fresh=fresh)).found[user]
        found = await self.by_user(what, tenant, fresh=fresh)
        return sum(found.values()) if user is None else found.get(user, 0)

    async def by_user(self, what: Stored, tenant: str, *, fresh: bool = False) -> Amounts:
        """How much of something each user has who has any."""
        cached = self._counted.get((what, tenant))
        if cached is None:
            for_s = _MEASURE_AGAIN_S if what in (*_MEASURED, "memory_bytes") else _COUNT_AGAIN_S
            cached = self._counted[what, tenant] = Cached(partial(self._count, what, tenant), for_s=for_s)
        count = await _value(cached, fresh=fresh)
        return count.found + count.added + self._coming.get((tenant, what), Counter())

    async def settle(self, what: Stored, tenant: str) -> None:
        """Wait until what is being added now is stored."""
        if adding := self._adding.get((tenant, what)):
            await asyncio.wait(set(adding))

    @contextmanager
    def adding(self, what: Stored, tenant: str, user: str, number: int) -> Iterator[None]:
        """Count so many more while the body stores them, and behind it, unless it fails."""
        ended, adding = asyncio.get_running_loop().create_future(), self._adding.setdefault((tenant, what), set())
        adding.add(ended)
        try:
            with self.expecting(what, tenant, user, number):
                yield
            self.add(what, tenant, user, number)
        finally:
            adding.discard(ended)
            ended.set_result(None)

    @contextmanager
    def expecting(self, what: Stored, tenant: str, user: str, number: int) -> Iterator[None]:
        """Count so many more while the body runs."""
        coming = self._coming.setdefault((tenant, what), Counter())
        coming[user] += number
        try:
            yield
        finally:
            coming[user] -= number
            if not coming[user]:
                del coming[user]

    def add(self, what: Stored, tenant: str, user: str, number: int) -> None:
        """Note what was stored since the last count; of files, that they have to be measured again."""
        if what not in _MEASURED:
            for count in self._counts.get((tenant, what), ()):
                count.added[user] += number
            return
        for each in _MEASURED:
            for measured in (self._counted.get((each, tenant)), self._cached_sizes.get((each, tenant, user))):
                if measured is not None:
                    measured.forget()

    async def aclose(self) -> None:
        """Stop counting."""
        await asyncio.gather(*(cached.aclose() for cached in (*self._counted.values(), *self._cached_sizes.values())))

    async def _measured_of(self, what: Stored, tenant: str, user: str) -> Cached[_Count]:
        cached = self._cached_sizes.get((what, tenant, user))
        if cached is None:
            while len(self._cached_sizes) >= _MOST_MEASURED * len(_MEASURED):
                await self._cached_sizes.pop(next(iter(self._cached_sizes))).aclose()
            count = partial(self._count, what, tenant, user)
            cached = self._cached_sizes[what, tenant, user] = Cached(count, for_s=_MEASURE_AGAIN_S)
        return cached

    async def _count(self, what: Stored, tenant: str, user: str | None = None) -> _Count:
        count = _Count()
        self._counts.setdefault((tenant, what), WeakSet()).add(count)  # first: to it is added from now on
        for holding in self._holdings:
            if what in holding.stored:
                count.found.update(await holding.stored[what](tenant, user))
        return count


async def _value(cached: Cached[_Count], *, fresh: bool) -> _Count:
    """The count; with `fresh` one that begins now, as one under way may have what was being stored twice."""
    if fresh:
        cached.forget()
    return await cached.get() or _Count()
