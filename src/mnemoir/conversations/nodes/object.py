"""A node's memory as an object in a store, with changes in which concurrent writers never lose turns.

A change takes the object's lock, reads the object again, applies itself to the current document, and writes on
condition that the object is unchanged. The lock avoids collisions; the condition, where the store supports one,
guarantees correctness without the lock. Unreadable bytes are copied to another key before they are overwritten, and
a document of a later version is never overwritten.
"""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import timedelta

import structlog

from mnemoir.conversations.nodes.document import (
    Compression,
    NewerDocument,
    NodeMemoryData,
    UnreadableDocument,
    pack,
    read_document,
    unpack,
    write_document,
)
from mnemoir.conversations.nodes.keys import corrupt_copy_key
from mnemoir.core.clock import Clock, utc_now
from mnemoir.core.errors import Conflict, MnemoirError, StorageUnavailable
from mnemoir.ports.leases import Leases, hold_lease
from mnemoir.ports.objects import ConditionalStore, ObjectStore, StoredObject

_TRIES = 100
_LONGEST_PAUSE_S = 0.02
_log = structlog.get_logger(__name__)

Change = Callable[[NodeMemoryData], NodeMemoryData]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeReading:
    """The result of a read. `version` is the object's; None when there is no object or its store has no versions.

    `damage` is the reason why the bytes are unreadable, None if they are not; `is_newer` is True for a document of a
    later version. `data` is empty in both cases.
    """

    data: NodeMemoryData = field(default_factory=NodeMemoryData)
    version: str | None = None
    content: bytes = field(default=b"", repr=False)
    damage: str | None = None
    is_newer: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeObject:
    """The object under `key`. Without a lock, only the store's conditional save protects concurrent writers."""

    key: str
    store: ObjectStore
    lock: Leases | None = None
    compression: Compression = "gzip"
    clock: Clock = utc_now

    def read(self) -> NodeReading:
        """The current document; an empty one when there is none. Raises StorageUnavailable."""
        found = self._find()
        if found is None:
            return NodeReading()
        version = found.version or None
        try:
            data = read_document(unpack(found.content))
        except UnreadableDocument as exc:
            return NodeReading(version=version, content=found.content, damage=str(exc))
        except NewerDocument:
            return NodeReading(version=version, content=found.content, is_newer=True)
        return NodeReading(data=data, version=version, content=found.content)

    def change(self, change: Change) -> NodeMemoryData:
        """Apply a change to the current document and return the written document.

        `change` is called again when another writer changed the document. Raises Conflict for a document of a later
        version, and StorageUnavailable, after which the change may or may not be written.
        """
        with nullcontext() if self.lock is None else hold_lease(self.lock, self.key):
            for _ in range(_TRIES):
                reading = self.read()
                self._refuse_newer(reading)
                self._keep_damaged(reading)
                changed = change(reading.data)
                if self._write(changed, reading):
                    return changed
                time.sleep(random.uniform(0, _LONGEST_PAUSE_S))
        raise StorageUnavailable(f"{self.key} could not be written: others write it again and again. Try again.")

    def exists(self) -> bool:
        """True when the object exists. Raises StorageUnavailable."""
        with self._store_errors("read"):
            return self.store.exists(self.key)

    def _find(self) -> StoredObject | None:
        with self._store_errors("read"):
            if isinstance(self.store, ConditionalStore):
                return self.store.load(self.key)
            try:
                content = self.store.load_once(self.key) if self.store.exists(self.key) else None
            except FileNotFoundError:  # deleted meanwhile
                content = None
            return None if content is None else StoredObject(content=content, version="")

    def _write(self, data: NodeMemoryData, over: NodeReading) -> bool:
        """Write the document; False when another writer changed the object meanwhile."""
        document = write_document(data)
        content = pack(document, self.compression)
        with self._store_errors("written"):
            if isinstance(self.store, ConditionalStore):
                is_written = self.store.save_if(self.key, content, over.version)
            else:
                self.store.save(self.key, content)
                is_written = True
        _log.debug(
            "node_memory_written", key=self.key, bytes=len(content), ratio=round(len(document) / len(content), 2)
        )
        return is_written

    def _refuse_newer(self, reading: NodeReading) -> None:
        if reading.is_newer:
            raise Conflict(
                f"{self.key} was written by a later version of the program and is left as it is. "
                "Use that version, or move the object away."
            )

    def _keep_damaged(self, reading: NodeReading) -> None:
        """Copy unreadable bytes to a key of their own, unless this instant's copy holds the same bytes already."""
        if reading.damage is None:
            return
        at = self.clock()
        with self._store_errors("kept"):
            while self.store.exists(copy := corrupt_copy_key(self.key, at)):
                if self.store.load_once(copy) == reading.content:
                    return
                at += timedelta(microseconds=1)
            self.store.save(copy, reading.content)
        _log.warning("node_memory_damaged", key=self.key, cause=reading.damage, kept_as=copy)

    @contextmanager
    def _store_errors(self, doing: str) -> Iterator[None]:
        """Convert exceptions of a foreign store to StorageUnavailable."""
        try:
            yield
        except MnemoirError:
            raise
        except Exception as exc:
            raise StorageUnavailable(
                f"{self.key} could not be {doing}: {type(exc).__name__}: {exc}. Check the object store."
            ) from exc
