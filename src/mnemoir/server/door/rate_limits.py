"""Rate limits: how often a key may ask, by kind of request, and how many wrong keys an address may send.

Each kind of request is a bucket with two windows, 10 seconds and a minute. A request has to fit into both, and one
that is refused is not counted. The windows slide: what was counted in the one before fades evenly. Wrong keys are
counted by address, so that nobody can guess a key, and a request with a valid key is never refused for them. With
limits on, all that has no valid key is counted by address, too. Where several servers share a Redis, they count the
requests of keys together; addresses each counts for itself.
"""

import math
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple

from limits import RateLimitItem, RateLimitItemPerHour, RateLimitItemPerMinute, RateLimitItemPerSecond
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter
from starlette.types import Scope

from mnemoir.access.shared_counts import Away, SharedCounts
from mnemoir.core.errors import RateLimited
from mnemoir.server.door.client_address import Proxies, network_of
from mnemoir.server.door.options import ServerOptions
from mnemoir.server.door.request import visit_of
from mnemoir.server.door.says import Bucket

_BURST_S = 10
_WRONG_KEYS = RateLimitItemPerMinute(10)
_TRIES = RateLimitItemPerMinute(10, 5)  # of a name from a network, and of a device that signed in before
_TRIES_OF_A_NAME = RateLimitItemPerHour(100)  # from wherever
_WITHOUT_KEY = RateLimitItemPerMinute(30)
_SIGN_INS_BEGUN = RateLimitItemPerMinute(600)  # in ten minutes fewer than are kept, which one address cannot push out
WRONG_KEYS = "unauthenticated"
_LEAST_SWEPT = 1024
_MOST_KEYS = 10_000
Headers = Sequence[tuple[bytes, bytes]]


class RateLimits:
    """The counters of one server, by key and bucket and by address. For one thread."""

    def __init__(self, options: ServerOptions, shared: SharedCounts | None = None) -> None:
        """`shared` are the counters of several servers, for keys."""
        self._shared = shared
        self._limits: Mapping[str, tuple[RateLimitItem, ...]] = {
            bucket: (RateLimitItemPerSecond(burst, _BURST_S), RateLimitItemPerMinute(sustained))
            for bucket, (burst, sustained) in options.rate_limits.items()
        }
        self.proxies = Proxies(options.trusted_proxies)
        self._keys: dict[tuple[int, tuple[str, ...]], tuple[str, int]] = {}

    @cached_property
    def _storage(self) -> "_Counters":
        return _Counters()

    @cached_property
    def _limiter(self) -> SlidingWindowCounterRateLimiter:
        return SlidingWindowCounterRateLimiter(self._storage)

    def note_wrong_key(self, scope: Scope) -> None:
        """Count a wrong key. Raises RateLimited when too many came from that address."""
        self._note(scope, _WRONG_KEYS, "Too many wrong keys came from this address. Send a valid one")

    def note_unauthenticated(self, scope: Scope) -> None:
        """Count a request without a valid key, if limits are on. Raises RateLimited for one too many."""
        if self._limits:
            self._note(scope, _WITHOUT_KEY, "Too many requests without a valid key came from this address. Send one")

    def begin_sign_in(self, scope: Scope) -> None:
        """Count a sign-in that is begun with a provider. Raises RateLimited for one too many."""
        self._note(scope, _SIGN_INS_BEGUN, "Too many sign-ins were begun from this address. Finish one")

    def _note(self, scope: Scope, limit: RateLimitItem, advice: str) -> None:
        address = self.proxies.client_of(scope)
        if address is None or self._limiter.hit(limit, client := network_of(address)):
            return
        wait_s = self._window(limit, client).wait_s(1)
        raise RateLimited(f"{advice}, or wait {wait_s} s.", bucket=WRONG_KEYS, retry_after_s=wait_s)

    def try_sign_in(self, scope: Scope, name: str, device: str = "") -> bool:
        """Count a try to sign in: by address, by name and network, and by name from wherever.

        Where too many came from wherever, only a `device` that signed in before is let through; its tries are counted
        by themselves. Returns whether this try is the last one from wherever. Raises RateLimited for one too many.
        """
        counters, of_name = self._of_sign_in(scope, name, device), (_TRIES_OF_A_NAME, "name", name)
        binding = [each for each in counters if not (device and each == of_name)]
        waits = [window.wait_s(1) for limit, *names in binding if (window := self._window(limit, *names)).rest < 1]
        if waits:
            raise RateLimited(
                f"Too many tries to sign in failed. Wait {max(waits)} s.", bucket=WRONG_KEYS, retry_after_s=max(waits)
            )
        left = self._window(*of_name).rest
        for limit, *names in counters:
            self._limiter.hit(limit, *names)
        return bool(name) and left == 1

    def has_signed_in(self, scope: Scope, name: str, device: str = "") -> None:
        """Take back what `try_sign_in` counted: it was right."""
        for limit, *names in self._of_sign_in(scope, name, device):
            window = self._window(limit, *names)
            if device and limit is _TRIES_OF_A_NAME and window.rest < 1:
                continue  # it was let through uncounted
            if window.counted > 0:  # else it was counted in the window before, and further tries would be free
                self._limiter.hit(limit, *names, cost=-1)

    def _of_sign_in(self, scope: Scope, name: str, device: str) -> list[tuple[Any, ...]]:
        address = self.proxies.client_of(scope)
        network = "" if address is None else network_of(address)
        of_address = [] if address is None else [(_WRONG_KEYS, network)]
        of_device = [(_TRIES, "device", device)] if device else []
        of_name = [(_TRIES, "name", name, network), (_TRIES_OF_A_NAME, "name", name)] if name else []
        return [*of_address, *of_name, *of_device]

    @property
    def are_shared(self) -> bool:
        """True when requests of keys are counted together with other servers: by `take_shared`."""
        return self._shared is not None and bool(self._limits)

    def take(self, scope: Scope, key: str, bucket: Bucket, cost: int = 1, servers: int = 1) -> None:
        """Count a request of a key, and note the headers of its answer. Raises RateLimited for one too many.

        Of so many `servers` this one grants its share.
        """
        limits = self._limits.get(bucket, ()) if key else ()
        if not limits:
            return
        windows = [self._window(limit, bucket, key).shared_by(servers, cost) for limit in limits]
        wait_s = _wait_s(windows, cost)
        if not wait_s:
            self._count(bucket, key, cost)
            windows = [window.with_more(cost) for window in windows]
        self._tell(scope, bucket, windows, wait_s)

    async def take_shared(self, scope: Scope, key: str, bucket: Bucket, cost: int = 1) -> None:
        """The same with all servers together; with this server's share while the counters of all are away."""
        limits, shared = self._limits.get(bucket, ()) if key else (), self._shared
        if not limits or shared is None:
            return
        try:
            windows = await self._shared_windows(shared, bucket, key)
            wait_s = _wait_s(windows, cost)
            if not wait_s and not await shared.count(limits, bucket, key, cost=cost):  # others were faster
                windows = await self._shared_windows(shared, bucket, key)
                wait_s = _wait_s(windows, cost) or 1
        except Away:
            self.take(scope, key, bucket, cost, shared.servers)
            return
        if not wait_s:
            self._count(bucket, key, cost)  # for when they are away
            windows = [window.with_more(cost) for window in windows]
        self._tell(scope, bucket, windows, wait_s)

    async def _shared_windows(self, shared: SharedCounts, bucket: str, key: str) -> "list[_Window]":
        limits = self._limits[bucket]
        found = await shared.window_counts(limits, bucket, key)
        return [_Window(limit.amount, limit.get_expiry(), *one) for limit, one in zip(limits, found, strict=True)]

    def _tell(self, scope: Scope, bucket: str, windows: "Sequence[_Window]", wait_s: int) -> None:
        visit_of(scope).headers = min(windows, key=lambda window: window.rest).headers
        if wait_s:
            raise RateLimited(
                f"This key has made as many requests of the kind `{bucket}` as it may. Wait {wait_s} s.",
                bucket=bucket,
                retry_after_s=wait_s,
            )

    async def standing(self, key: str) -> Sequence[tuple[str, int, int, int]]:
        """How it stands with each bucket of a key: name, size, what is left, and seconds until all of it is free.

        Of the two windows the one that is nearer to its end.
        """
        if not key:
            return []
        nearest = [
            (bucket, min(await self._windows(bucket, key), key=lambda window: window.rest)) for bucket in self._limits
        ]
        return [(bucket, window.size, window.rest, window.wait_s(window.size)) for bucket, window in nearest]

    async def _windows(self, bucket: str, key: str) -> "list[_Window]":
        limits, servers = self._limits[bucket], 1
        if self._shared is not None:
            try:
                return await self._shared_windows(self._shared, bucket, key)
            except Away:
                servers = self._shared.servers
        return [self._window(limit, bucket, key).shared_by(servers, 1) for limit in limits]

    async def take_instead(self, scope: Scope, key: str, bucket: Bucket, cost: int) -> None:
        """Let a request that was counted as 1 cost so much. Raises RateLimited, and then it is not counted at all."""
        if not key or bucket not in self._limits:
            return
        self._count(bucket, key, -1)
        if self._shared is None:
            self.take(scope, key, bucket, cost)
            return
        with suppress(Away):
            await self._shared.count(self._limits[bucket], bucket, key, cost=-1)
        await self.take_shared(scope, key, bucket, cost)

    def _count(self, bucket: Bucket, key: str, cost: int) -> None:
        for limit in self._limits[bucket]:
            self._storage.count(*self._key(limit, (bucket, key)), cost)

    def _window(self, limit: RateLimitItem, *names: str) -> "_Window":
        key, length_s = self._key(limit, names)
        return _Window(limit.amount, length_s, *self._storage.window(key, length_s))

    def _key(self, limit: RateLimitItem, names: tuple[str, ...]) -> tuple[str, int]:
        """What it is counted under, and the length of its window in seconds."""
        found = self._keys.get((id(limit), names))
        if found is None:
            if len(self._keys) >= _MOST_KEYS:
                self._keys.clear()
            found = self._keys[id(limit), names] = limit.key_for(*names), limit.get_expiry()
        return found


class _Window(NamedTuple):
    """A window of `length_s`, of which `counted` is used; it ends in `ends_s`.

    Of the `before` of the window before it, a part still counts, which fades to nothing in `left_s`.
    """

    size: int
    length_s: int
    before: int
    left_s: float
    counted: int
    ends_s: float

    def shared_by(self, servers: int, cost: int) -> "_Window":
        """The share of one of so many servers, in which at least one request has room."""
        return self if servers == 1 else self._replace(size=max(math.ceil(self.size / servers), cost))

    @property
    def rest(self) -> int:
        """How much is free."""
        return max(self.size - math.floor(self.before * self.left_s / self.length_s + self.counted), 0)

    @property
    def headers(self) -> Headers:
        """Its size, what is free, and the seconds until all is."""
        return headers_of(self.size, self.rest, self.wait_s(self.size))

    def with_more(self, cost: int) -> "_Window":
        """The window after one more request."""
        return self._replace(counted=self.counted + cost)

    def wait_s(self, cost: int) -> int:
        """Whole seconds, 1 or more, until so much is free. The library tells only when anything is."""
        room = self.size - cost + 1  # what counts must be less
        if self.counted >= room:
            wait_s = self.ends_s + self.length_s - room * self.length_s / self.counted
        elif self.before:
            wait_s = self.left_s - (room - self.counted) * self.length_s / self.before
        else:
            wait_s = 0.0
        return max(math.floor(wait_s) + 1, 1)


def _wait_s(windows: Sequence[_Window], cost: int) -> int:
    """Whole seconds until so much fits into all windows, 0 when it does."""
    return max((window.wait_s(cost) for window in windows if window.rest < cost), default=0)


def headers_of(size: int, rest: int, reset_s: int) -> Headers:
    """The headers of a limit: its size, what is left, and the seconds until all of it is free."""
    return (
        (b"x-ratelimit-limit", b"%d" % size),
        (b"x-ratelimit-remaining", b"%d" % rest),
        (b"x-ratelimit-reset", b"%d" % reset_s),
    )


def remaining_share(headers: Headers) -> float:
    """The share of a limit that is left, from 0 to 1, by its headers; infinity without a limit."""
    if not headers:
        return math.inf
    (_, size), (_, rest), _ = headers
    return int(rest) / max(int(size), 1)


class _Counters(MemoryStorage):
    """The library's counters in memory, for one thread.

    Its own `incr` starts a thread, again and again, to drop those that ended, and its own reading and hitting of a
    window cost 30 µs: a request has four of them.
    """

    _most = _LEAST_SWEPT

    def window(self, key: str, length_s: int) -> tuple[int, float, int, float]:
        """What was counted in the window before, for how long a part of that counts, what in this one, its rest."""
        number, gone_s = divmod(time.time(), length_s)
        before, counted = self.storage.get(f"{key}/{int(number) - 1}", 0), self.storage.get(f"{key}/{int(number)}", 0)
        return before, (length_s - gone_s if before else 0.0), counted, length_s - gone_s

    def count(self, key: str, length_s: int, amount: int) -> None:
        """Add to this window."""
        self._add(f"{key}/{int(time.time() // length_s)}", 2 * length_s, amount)

    def incr(self, key: str, expiry: float, amount: int = 1) -> int:
        """Add to a counter, which ends so many seconds after it began. The sum."""
        return self._add(key, expiry, amount)

    def _add(self, key: str, expiry: float, amount: int) -> int:
        if len(self.expirations) >= self._most:
            for known in list(self.expirations):
                self.get(known)  # drops it when it has ended
            self._most = max(2 * len(self.expirations), _LEAST_SWEPT)
        now = time.time()
        if self.expirations.setdefault(key, now + expiry) <= now:
            self.storage.pop(key, None)
            self.expirations[key] = now + expiry
        self.storage[key] += amount
        return self.storage[key]
