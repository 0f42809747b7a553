"""Object stores: bytes under a key, in a local directory, in memory, or in a cloud service.

A key is a path of steps joined by `/`; no step is empty, `.` or `..`. All methods block, and raise StorageUnavailable
when the store cannot be reached.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable

from mnemoir.core.errors import NotFound


class ObjectNotFound(NotFound, FileNotFoundError):
    """No object has that key. Also a FileNotFoundError, which object stores of other libraries raise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectEntry:
    """An object in a listing; `last_modified` is the time of its last write, in UTC."""

    key: str
    size_bytes: int
    last_modified: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredObject:
    """An object's content. `version` differs between contents of one key and has a meaning only to its store."""

    content: bytes
    version: str


class ObjectStore(Protocol):
    """The store of node memories."""

    def save(self, key: str, content: bytes) -> None:
        """Store the bytes under the key, replacing an object there. Readers see either the old or the new object."""

    def load_once(self, key: str) -> bytes:
        """The whole content of an object. Raises ObjectNotFound."""

    def exists(self, key: str) -> bool:
        """True when there is an object with that key."""

    def delete(self, key: str) -> None:
        """Delete the object, if it exists."""

    def scan(self, prefix: str) -> Iterator[ObjectEntry]:
        """All objects with keys that begin with `prefix`, which ends in `/` or is ""; in no fixed order.

        Objects written or deleted during the scan may or may not be included. A store without listing raises
        NotSupported.
        """

    def modified_at(self, key: str) -> datetime | None:
        """The time of the object's last write, in UTC; None for a missing object."""


@runtime_checkable
class ConditionalStore(ObjectStore, Protocol):
    """A store with conditional writes, which fail if another writer changed the object in between."""

    def load(self, key: str) -> StoredObject | None:
        """An object with its version; None for a missing object."""

    def save_if(self, key: str, content: bytes, version: str | None) -> bool:
        """Save if the object still has `version`, or for None if it does not exist; else change nothing, False."""
