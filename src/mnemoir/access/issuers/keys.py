"""The public keys of an issuer, by which its signatures are checked.

They are read at the start, again after an hour, and when a token names one that is not among them, which happens when
an issuer changes its keys. While it is away, the last ones count for a day.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import structlog

from mnemoir.access.issuers.documents import Document
from mnemoir.core import first_use
from mnemoir.core.clock import Clock
from mnemoir.core.errors import IssuerUnavailable

if TYPE_CHECKING:
    import jwt
else:
    jwt = first_use.module("jwt")

_FRESH = timedelta(hours=1)
_LASTING = timedelta(hours=24)
_UNKNOWN_EVERY = timedelta(seconds=30)  # a token with a made-up key must not make this server ask for it each time
_RETRY = timedelta(seconds=30)
_RETRY_WITHOUT = timedelta(seconds=5)  # as long as there are no keys at all
MOST_OFF = timedelta(seconds=60)
_MOST_KEYS = 100
_FITTING = {  # the algorithms of each kind of key, by the curve where it has one
    ("RSA", None): ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    ("EC", "P-256"): ("ES256",),
    ("EC", "P-384"): ("ES384",),
    ("EC", "P-521"): ("ES512",),
    ("OKP", "Ed25519"): ("EdDSA",),
}
_log = structlog.get_logger(__name__)


class IssuerKeys:
    """The keys of one issuer for some algorithms. For one event loop."""

    def __init__(
        self, issuer: str, algorithms: Collection[str], read: Callable[[], Awaitable[Document]], clock: Clock
    ) -> None:
        """`read` gets the document with the keys, and may raise IssuerUnavailable."""
        self._issuer = issuer
        self._algorithms = frozenset(algorithms)
        self._read = read
        self._clock = clock
        self._keys: Sequence[IssuerKey] = ()
        self.version = 0
        self._read_at: datetime | None = None
        self._due_at: datetime | None = None  # when to read again
        self._asked_at: datetime | None = None  # when the last unknown key was asked for
        self._has_failed = False
        self._off: timedelta | None = None  # by how much the clocks differ, if it is too much
        self._reading: asyncio.Task[None] | None = None

    def begin(self) -> asyncio.Task[None]:
        """Read the keys in the background."""
        if self._reading is None:
            self._reading = asyncio.create_task(self._renew(), name=f"keys of {self._issuer}")
            self._reading.add_done_callback(self._end)
        return self._reading

    async def aclose(self) -> None:
        """Stop reading."""
        if self._reading is not None:
            self._reading.cancel()
            with suppress(asyncio.CancelledError):
                await self._reading

    @property
    def due_at(self) -> datetime | None:
        """When the keys are to be read again; None before they were read."""
        return self._due_at

    def check_clock(self) -> None:
        """Raise IssuerUnavailable while the clocks of this machine and of the issuer differ too much."""
        if self._off is None:
            return
        if self._due_at is None or self._clock() >= self._due_at:
            self.begin()
        raise IssuerUnavailable(
            f"The clock of this machine and that of {self._issuer} differ by "
            f"{abs(self._off.total_seconds()):.0f} s, so tokens are refused. Set the clock."
        )

    async def matching(self, kid: str | None, algorithm: str) -> Sequence["jwt.PyJWK"]:
        """The keys of that name for an algorithm, all of them for None. Raises IssuerUnavailable without any keys."""
        await self._be_ready()
        found = self._keys_with_id(kid)
        if not found and kid is not None:
            await self._look_again()
            found = self._keys_with_id(kid)
            if not found and self._has_failed:  # it may be a new one
                raise self._unavailable()
        return [key.by_algorithm[algorithm] for key in found if algorithm in key.by_algorithm]

    async def _be_ready(self) -> None:
        """Have keys that count, and begin to read them again when that is due."""
        now = self._clock()
        is_due = self._due_at is None or now >= self._due_at
        if not self._count(now):
            if is_due or self._reading is not None:
                await asyncio.shield(self.begin())
            if not self._count(now):
                raise self._unavailable()
        elif is_due:
            self.begin()
        self.check_clock()

    def _count(self, now: datetime) -> bool:
        return self._read_at is not None and now < self._read_at + _LASTING

    async def _look_again(self) -> None:
        now = self._clock()
        if self._reading is None:
            if self._asked_at is not None and now < self._asked_at + _UNKNOWN_EVERY:
                return
            self._asked_at = now
        await asyncio.shield(self.begin())

    def _keys_with_id(self, kid: str | None) -> Sequence["IssuerKey"]:
        return self._keys if kid is None else [key for key in self._keys if key.kid == kid]

    async def _renew(self) -> None:
        try:
            found = await self._read()
            keys = keys_in(found.body, self._algorithms)
            if not keys:
                raise IssuerUnavailable(f"{self._issuer} has no key for {', '.join(sorted(self._algorithms))}.")
        except IssuerUnavailable as exc:
            self._has_failed = True
            self._due_at = self._clock() + (_RETRY if self._keys else _RETRY_WITHOUT)
            _log.warning("keys of an issuer not read", issuer=self._issuer, cause=exc.message)
            return
        now = self._clock()
        self._has_failed = False
        self._keys, self._read_at, self._due_at = keys, now, now + _FRESH
        self.version += 1
        off = None if found.sent_at is None else found.sent_at - now
        self._off = off if off is not None and abs(off) > MOST_OFF else None
        if self._off is not None:
            self._due_at = now + _RETRY
            _log.warning(
                "clock differs from that of an issuer", issuer=self._issuer, seconds=self._off.total_seconds()
            )

    def _end(self, task: asyncio.Task[None]) -> None:
        self._reading = None
        if not task.cancelled() and (exc := task.exception()) is not None:
            _log.error("keys of an issuer not read", issuer=self._issuer, exc_info=exc)

    def _unavailable(self) -> IssuerUnavailable:
        return IssuerUnavailable(
            f"The keys of the issuer {self._issuer} cannot be read now, so its tokens cannot be checked. "
            "Try again in a moment; the log of the server says why."
        )


class IssuerKey:
    """A public key of an issuer, for each algorithm that it checks signatures of."""

    __slots__ = ("by_algorithm", "kid")

    def __init__(self, kid: str | None, by_algorithm: Mapping[str, "jwt.PyJWK"]) -> None:
        self.kid = kid
        self.by_algorithm = by_algorithm


def keys_in(document: Mapping[str, Any], algorithms: Collection[str]) -> Sequence[IssuerKey]:
    """The keys of a set that can check a signature by one of the algorithms; others are passed over."""
    listed = document.get("keys")
    found = (_key(one, algorithms) for one in (listed if isinstance(listed, list) else [])[:_MOST_KEYS])
    return [key for key in found if key is not None]


def _key(said: object, algorithms: Collection[str]) -> IssuerKey | None:
    if not isinstance(said, dict) or said.get("use", "sig") != "sig":
        return None
    kid, curve, operations = said.get("kid"), said.get("crv"), said.get("key_ops", ["verify"])
    if not isinstance(operations, list) or "verify" not in operations:
        return None
    kind = (str(said.get("kty")), None if curve is None else str(curve))
    fitting = [name for name in _FITTING.get(kind, ()) if name in algorithms and said.get("alg", name) == name]
    try:
        by_algorithm = {name: jwt.PyJWK(said, name) for name in fitting}
    except (jwt.PyJWTError, jwt.PyJWKError, ValueError, TypeError):
        return None
    return IssuerKey(kid if isinstance(kid, str) else None, by_algorithm) if by_algorithm else None
