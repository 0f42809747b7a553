"""Objects: bytes under a key, in a local directory, in memory, or in somebody's cloud.

A key is steps joined by `/`; no step is empty, `.` or `..`. All methods block, and raise StorageUnavailable when the
store cannot be asked.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable

from mnemoir.core.errors import NotFound


class ObjectNotFound(NotFound, FileNotFoundError):
    """No object has that key. A FileNotFoundError too, as that is what stores of other makers raise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectEntry:
    """An object as a listing shows it; `last_modified` is the time of its last write, in UTC."""

    key: str
    size_bytes: int
    last_modified: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredObject:
    """The bytes of an object. `version` tells one content of the key from the next; only its store can read it."""

    content: bytes
    version: str


class ObjectStore(Protocol):
    """What node memory needs of a store."""

    def save(self, key: str, content: bytes) -> None:
        """Put the bytes under the key, in place of what is there. Readers see the old object or the new one."""

    def load_once(self, key: str) -> bytes:
        """All of an object. Raises ObjectNotFound."""

    def exists(self, key: str) -> bool:
        """Whether there is such an object."""

    def delete(self, key: str) -> None:
        """Take it away; nothing happens when it is not there."""

    def scan(self, prefix: str) -> Iterator[ObjectEntry]:
        """Every object whose key begins with `prefix`, which ends in `/` or is ""; in no fixed order.

        What is written or deleted meanwhile may be among them or not. A store that cannot list raises NotSupported.
        """

    def last_modified(self, key: str) -> datetime | None:
        """When it was last written, in UTC; None when it is not there."""


@runtime_checkable
class ConditionalStore(ObjectStore, Protocol):
    """A store that can refuse to overwrite what its caller has not seen."""

    def load(self, key: str) -> StoredObject | None:
        """An object with its version; None when it is not there."""

    def save_if(self, key: str, content: bytes, version: str | None) -> bool:
        """Save while the object still has `version`, or while there is none for None; else False, nothing changed."""
