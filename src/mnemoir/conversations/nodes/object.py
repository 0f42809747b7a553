"""One node's memory in an object store: read, and changed so that two writers never lose each other's turns.

A change takes the lock of the object, reads it again, applies itself to what is there now, and writes on condition
that nobody wrote meanwhile. The lock spares the writers from each other; the condition, where the store has one,
keeps the promise when the lock could not be had. Bytes that cannot be read are copied aside before anything is
written over them, and a document of a later version is never written over.
"""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import timedelta

import structlog

from mnemoir.conversations.nodes.compression import Compression, pack, unpack
from mnemoir.conversations.nodes.document import (
    NewerDocument,
    NodeMemoryData,
    UnreadableDocument,
    read_document,
    write_document,
)
from mnemoir.conversations.nodes.keys import corrupt_copy_key
from mnemoir.core.clock import Clock, utc_now
from mnemoir.core.errors import Conflict, MnemoirError, StorageUnavailable
from mnemoir.ports.leases import Leases, held
from mnemoir.ports.objects import ConditionalStore, ObjectStore, StoredObject

_TRIES = 100
_LONGEST_PAUSE_S = 0.02
_log = structlog.get_logger(__name__)

Change = Callable[[NodeMemoryData], NodeMemoryData]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What was found. `version` is the object's, None when there is none or its store has no versions.

    `damage` says why bytes could not be read and `is_newer` why they must not be; `data` is empty for both.
    """

    data: NodeMemoryData = field(default_factory=NodeMemoryData)
    version: str | None = None
    content: bytes = field(default=b"", repr=False)
    damage: str | None = None
    is_newer: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeObject:
    """The object under `key`. Without a lock, nothing but the store's own condition keeps writers apart."""

    key: str
    store: ObjectStore
    lock: Leases | None = None
    compression: Compression = "gzip"
    clock: Clock = utc_now

    def read(self) -> Reading:
        """The document as it is now; an empty one when there is none. Raises StorageUnavailable."""
        found = self._find()
        if found is None:
            return Reading()
        version = found.version or None
        try:
            data = read_document(unpack(found.content))
        except UnreadableDocument as exc:
            return Reading(version=version, content=found.content, damage=str(exc))
        except NewerDocument:
            return Reading(version=version, content=found.content, is_newer=True)
        return Reading(data=data, version=version, content=found.content)

    def change(self, change: Change) -> NodeMemoryData:
        """Apply a change to the document as it is now, and return what was written.

        `change` may be called again for another document. Raises Conflict for a document of a later version, and
        StorageUnavailable, after which it may be unknown whether the change was written.
        """
        with nullcontext() if self.lock is None else held(self.lock, self.key):
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
        """Whether there is such an object. Raises StorageUnavailable."""
        with self._store_errors("read"):
            return self.store.exists(self.key)

    def _find(self) -> StoredObject | None:
        with self._store_errors("read"):
            if isinstance(self.store, ConditionalStore):
                return self.store.load(self.key)
            try:
                content = self.store.load_once(self.key) if self.store.exists(self.key) else None
            except FileNotFoundError:  # somebody deleted it meanwhile
                content = None
            return None if content is None else StoredObject(content=content, version="")

    def _write(self, data: NodeMemoryData, over: Reading) -> bool:
        """Whether it was written; False when somebody else was faster."""
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

    def _refuse_newer(self, reading: Reading) -> None:
        if reading.is_newer:
            raise Conflict(
                f"{self.key} was written by a later version of the program and is left as it is. "
                "Use that version, or move the object away."
            )

    def _keep_damaged(self, reading: Reading) -> None:
        """Copy what cannot be read to a key of its own, once for the same bytes of the same instant."""
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
        """A store may be anybody's, and raise anything."""
        try:
            yield
        except MnemoirError:
            raise
        except Exception as exc:
            raise StorageUnavailable(
                f"{self.key} could not be {doing}: {type(exc).__name__}: {exc}. Check the object store."
            ) from exc
