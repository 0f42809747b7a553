"""The data keys of this process: made when an owner's first cell is stored, unwrapped when one is needed.

A key is held in memory for ten minutes. Another process may change the store beside this one, as the command line
does; it is looked at once a second, so a destroyed key is out of use within a second.
"""

import hmac
import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from mnemoir.core import first_use
from mnemoir.core.clock import Clock, utc_now
from mnemoir.core.errors import KeyDestroyed, KeyUnavailable, StorageUnavailable
from mnemoir.ports.key_provider import KeyProvider
from mnemoir.storage.sealing.cells import Keys
from mnemoir.storage.sealing.key_stores import KeyStore
from mnemoir.storage.sql.data_keys import DataKey, SqlDataKeys, new_key_id
from mnemoir.storage.sql.engine import FileEngine
from mnemoir.storage.sql.tables import Owner

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import aead
else:
    aead = first_use.module("cryptography.hazmat.primitives.ciphers.aead")

_HELD_S = 600.0
_LOOK_S = 1.0
_KEY_BYTES = 32


class _Held:
    __slots__ = ("cipher", "hash_key", "until")

    def __init__(self, key: bytes, until: float) -> None:
        self.cipher = aead.AESGCM(key)
        self.hash_key = hmac.digest(key, b"digests", "sha256")
        self.until = until


class KeyRing:
    """Thread-safe. The store is opened with the first key that is needed. Raises KeyUnavailable."""

    def __init__(
        self,
        place: KeyStore,
        provider: KeyProvider,
        *,
        elapsed: Callable[[], float] = time.monotonic,
        clock: Clock = utc_now,
    ) -> None:
        self.place = place
        self.provider = provider
        self._elapsed = elapsed
        self._clock = clock
        self._lock = threading.RLock()
        self._file: FileEngine | None = None
        self._was_there = place.exists()
        self._held: dict[int, _Held] = {}
        self._newest: dict[Owner, int] = {}
        self._state: object = None
        self._look_at = 0.0

    def current(self, owner: Owner) -> int:
        """The id of the key for new cells of an owner, which is made if there is none."""
        self._refresh()
        if (known := self._newest.get(owner)) is not None:
            return known
        with self._lock, _away():
            is_as_seen = self.place.state() == self._state
            store = self.store()
            found = store.newest(owner)
            if found is None:
                self._refuse_strange_provider(store)
                found = store.put_first(self._new(owner), self._clock())
            if is_as_seen:  # then all that changed is this key, or the log that the first opening made
                self._state = self.place.state()
            self._newest[owner] = found
            return found

    def cipher(self, key_id: int) -> "aead.AESGCM":
        """The cipher of a key."""
        return self._of(key_id).cipher

    def hash_key(self, key_id: int) -> bytes:
        """The key of the digests that belongs to a key."""
        return self._of(key_id).hash_key

    def rotate(self, owner: Owner) -> int:
        """Give the owner a further key, which new cells get from now on; its id."""
        with self._lock:
            store = self.store()
            self._refuse_strange_provider(store)
            key_id = store.put_next(self._new(owner), self._clock())
            self._forget()
            return key_id

    def rewrap(self) -> int:
        """Wrap every key by the provider's key of now; how many were wrapped by another."""
        with self._lock:
            others = self.store().wrapped_by_others(self.kek())
            for key in others:
                self.store().rewrap(self._wrapped_key(key, self._plain_key(key)))
            return len(others)

    def destroy(self, owner: Owner) -> int:
        """Destroy all keys of an owner for good: nothing that was encrypted with them can be read; how many."""
        with self._lock:
            destroyed = self.store().destroy(owner, self._clock())
            self._forget()
            return destroyed

    def check(self) -> None:
        """Raise KeyUnavailable where the stored keys cannot be opened, unless some are held still."""
        self._refresh()
        with _away():
            if not self._held and (self._was_there or self.place.exists()):
                self._refuse_strange_provider(self.store())

    def is_destroyed(self, key_id: int) -> bool:
        """True when the key was destroyed, and with it all that it had encrypted."""
        with _away():
            key = self.store().get(key_id)
        return key is not None and key.wrapped is None

    def store(self) -> SqlDataKeys:
        """The stored keys. A store that was there once is never made anew."""
        with self._lock, _away():
            if self._was_there and not self.place.exists():
                raise KeyUnavailable(f"{self.place.name} is gone. Put back the key store of these data.")
            if self._file is None:
                self._file = self.place.open()
            self._was_there = True
            return SqlDataKeys(self._file)

    def state(self) -> object:
        """Another value after each change of the store. Blocks."""
        with _away():
            return self.place.state()

    def close(self) -> None:
        """Close the store and forget all keys."""
        with self._lock:
            self._forget()
            if self._file is not None:
                self._file.close()
                self._file = None

    def _of(self, key_id: int) -> _Held:
        now = self._elapsed()
        if now >= self._look_at:
            self._refresh()
        held = self._held.get(key_id)
        return held if held is not None and now < held.until else self._fetched_key(key_id)

    def _fetched_key(self, key_id: int) -> _Held:
        with self._lock, _away():
            key = self.store().get(key_id)
            if key is None:
                raise KeyUnavailable(
                    f"{self.place.name} has no key {key_id:08x}. Put back the key store of these data."
                )
            held = _Held(self._plain_key(key), self._elapsed() + _HELD_S)
            self._held[key_id] = held
            return held

    def refresh(self) -> None:
        """Look now whether another process has changed the store."""
        self._look_at = 0.0
        self._refresh()

    def _refresh(self) -> None:
        """Forget what was looked up before the store changed last."""
        now = self._elapsed()
        if now < self._look_at:
            return
        with self._lock:
            self._look_at = now + _LOOK_S
            try:
                state = self.state()
            except KeyUnavailable:
                self._forget()  # who knows what was destroyed meanwhile
                raise
            if state != self._state:
                self._forget()
                self._state = state
            for key_id in [key_id for key_id, held in self._held.items() if held.until <= now]:
                del self._held[key_id]

    def _forget(self) -> None:
        self._held.clear()
        self._newest.clear()

    def _new(self, owner: Owner) -> DataKey:
        key = DataKey(id=new_key_id(), owner=owner, number=0, kek="", wrapped=None)
        return self._wrapped_key(key, os.urandom(_KEY_BYTES))

    def _wrapped_key(self, key: DataKey, plain: bytes) -> DataKey:
        kek = self.kek()
        try:
            wrapped = self.provider.wrap(plain, key.context)
        except Exception as exc:  # a provider of another package may raise anything
            raise _provider_away(exc) from exc
        return DataKey(id=key.id, owner=key.owner, number=key.number, kek=kek, wrapped=wrapped)

    def _plain_key(self, key: DataKey) -> bytes:
        if key.wrapped is None:
            raise KeyDestroyed(f"Key {key.id:08x} was destroyed, and with it what it had encrypted.")
        try:
            return self.provider.unwrap(key.kek, key.wrapped, key.context)
        except KeyError as exc:
            raise KeyUnavailable(
                f"Key {key.id:08x} is wrapped by the key {key.kek}, which encryption.provider does not have. Put "
                "that key back, behind the new one if there is a new one."
            ) from exc
        except Exception as exc:  # the same
            raise _provider_away(exc) from exc

    def kek(self) -> str:
        """The name of the provider's key of now."""
        try:
            return self.provider.kek
        except Exception as exc:  # the same
            raise _provider_away(exc) from exc

    def _refuse_strange_provider(self, store: SqlDataKeys) -> None:
        """Make no key beside others that this provider cannot unwrap: it is most likely not the right one."""
        others = [key for key in store.wrapped_by_others(self.kek()) if key.wrapped is not None]
        if others:
            self._plain_key(others[-1])


class _away:  # a class, named like a function
    """Raise KeyUnavailable in place of other errors of the key store."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, StorageUnavailable) and not isinstance(error, KeyUnavailable):
            raise KeyUnavailable(f"The key store is not available. {error.message}") from error


def _provider_away(exc: Exception) -> KeyUnavailable:
    if isinstance(exc, KeyUnavailable):
        return exc
    return KeyUnavailable(f"The keys of encryption.provider are not available: {type(exc).__name__}.")


_: type[Keys] = KeyRing  # checked, never run
