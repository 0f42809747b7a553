"""What each user has stored: memories, messages, and bytes of files.

It is counted where it is stored, so the figures cannot drift. A figure is kept for some seconds, and what is added
meanwhile is added to it, so that a quota holds from one request to the next; before anything is refused, it is
counted anew. Counting within the transactions that store would add a write to each of them, in several files.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from mnemoir.core.cached import Cached
from mnemoir.core.usage import Stored
from mnemoir.ports.holdings import Amounts, OpenHolding

_COUNT_AGAIN_S = 5.0
_MEASURE_AGAIN_S = 60.0  # the folders of a thousand users are many files
_MOST_MEASURED = 1000  # users whose files were measured lately, of each kind
_MEASURED: tuple[Stored, ...] = ("attachment_bytes", "disk_bytes")


class StoredAmounts:
    """Counts over the holdings of one server, by tenant. For one event loop. Raises StorageUnavailable."""

    def __init__(self, holdings: Sequence[OpenHolding]) -> None:
        self._holdings = holdings
        self._counted: dict[tuple[Stored, str], Cached[Amounts]] = {}  # all users
        self._cached_sizes: dict[tuple[Stored, str, str], Cached[Amounts]] = {}  # one user
        self._added: dict[tuple[str, Stored], Counter[str]] = {}  # since the last count
        self._coming: dict[tuple[str, Stored], Counter[str]] = {}  # what is being stored

    async def amount(self, what: Stored, tenant: str, user: str | None, *, fresh: bool = False) -> int:
        """How much of something a user has in all projects; None for all users of the tenant.

        With `fresh` it is counted anew.
        """
        if user is not None and what in _MEASURED:
            cached = await self._measured_of(what, tenant, user)
            return (await cached.get(fresh=fresh) or {}).get(user, 0)
        found = await self.by_user(what, tenant, fresh=fresh)
        return sum(found.values()) if user is None else found.get(user, 0)

    async def by_user(self, what: Stored, tenant: str, *, fresh: bool = False) -> Amounts:
        """How much of something each user has who has any."""
        cached = self._counted.get((what, tenant))
        if cached is None:
            for_s = _MEASURE_AGAIN_S if what in _MEASURED else _COUNT_AGAIN_S
            cached = self._counted[what, tenant] = Cached(partial(self._count, what, tenant), for_s=for_s)
        found = Counter(await cached.get(fresh=fresh) or {})
        return found + self._added_to(tenant, what) + self._coming.get((tenant, what), Counter())

    @contextmanager
    def adding(self, what: Stored, tenant: str, user: str, number: int) -> Iterator[None]:
        """Count so many more while the body stores them, and behind it, unless it fails."""
        with self.expecting(what, tenant, user, number):
            yield
        self.add(what, tenant, user, number)

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
            self._added_to(tenant, what)[user] += number
            return
        for each in _MEASURED:
            for measured in (self._counted.get((each, tenant)), self._cached_sizes.get((each, tenant, user))):
                if measured is not None:
                    measured.forget()

    async def aclose(self) -> None:
        """Stop counting."""
        await asyncio.gather(*(cached.aclose() for cached in (*self._counted.values(), *self._cached_sizes.values())))

    def _added_to(self, tenant: str, what: Stored) -> Counter[str]:
        return self._added.setdefault((tenant, what), Counter())

    async def _measured_of(self, what: Stored, tenant: str, user: str) -> Cached[Amounts]:
        cached = self._cached_sizes.get((what, tenant, user))
        if cached is None:
            while len(self._cached_sizes) >= _MOST_MEASURED * len(_MEASURED):
                await self._cached_sizes.pop(next(iter(self._cached_sizes))).aclose()
            count = partial(self._count, what, tenant, user)
            cached = self._cached_sizes[what, tenant, user] = Cached(count, for_s=_MEASURE_AGAIN_S)
        return cached

    async def _count(self, what: Stored, tenant: str, user: str | None = None) -> Amounts:
        self._added_to(tenant, what).clear()  # first: what is added meanwhile may count twice, not never
        counted = Counter[str]()
        for holding in self._holdings:
            if what in holding.stored:
                counted.update(await holding.stored[what](tenant, user))
        return counted
