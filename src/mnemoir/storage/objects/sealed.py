"""Encrypted objects over a local store: each is bound to its owner and its key, so a moved one does not open."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from mnemoir.ports.objects import ConditionalStore, ObjectEntry, StoredObject
from mnemoir.storage.objects.local import LocalObjects
from mnemoir.storage.sealing.cells import OVERHEAD, OwnCells, is_sealed


class SealedObjects:
    """Objects of one owner. Plain ones are read as they are. Every method may raise KeyUnavailable."""

    def __init__(self, objects: LocalObjects, own: OwnCells) -> None:
        self._objects = objects
        self._own = own

    def save(self, key: str, content: bytes) -> None:
        """Store the bytes under the key; durable on return."""
        self._objects.save(key, self._sealed_content(key, content))

    def save_if(self, key: str, content: bytes, version: str | None) -> bool:
        """Save when the object has this version, or with None when there is no object; False otherwise."""
        return self._objects.save_if(key, self._sealed_content(key, content), version)

    def load(self, key: str) -> StoredObject | None:
        """The object with a version, which differs after each save; None when there is none."""
        found = self._objects.load(key)
        return None if found is None else replace(found, content=self._plain_content(key, found.content))

    def load_once(self, key: str) -> bytes:
        """The whole content of an object. Raises ObjectNotFound."""
        return self._plain_content(key, self._objects.load_once(key))

    def exists(self, key: str) -> bool:
        """True when there is a file of this key."""
        return self._objects.exists(key)

    def modified_at(self, key: str) -> datetime | None:
        """The time of the file's last write; None when there is no file."""
        return self._objects.modified_at(key)

    def delete(self, key: str) -> None:
        """Delete the object, if it exists."""
        self._objects.delete(key)

    def scan(self, prefix: str) -> Iterator[ObjectEntry]:
        """All objects below `prefix`, sorted by name in each folder, with the sizes of what they hold."""
        for entry in self._objects.scan(prefix):
            adds = OVERHEAD if is_sealed(self._objects.beginning(entry.key, OVERHEAD)) else 0
            yield replace(entry, size_bytes=entry.size_bytes - adds)

    def bring_up_to_date(self) -> bool:
        """Encrypt all by the owner's key of now, or decrypt it; False when there was nothing to do."""
        key, moved = self._own.key(), False
        for entry in list(self._objects.scan("")):
            if self._has_key(entry.key, key):
                continue
            while (found := self.load(entry.key)) is not None and found.content.strip():
                moved = True
                if self.save_if(entry.key, found.content, found.version):
                    break
        return moved

    def _has_key(self, key: str, wanted: int | None) -> bool:
        """True when an object is encrypted by this key, or with None not at all."""
        beginning = self._objects.beginning(key, OVERHEAD)
        return not is_sealed(beginning) if wanted is None else is_sealed(beginning, wanted)

    def _sealed_content(self, key: str, content: bytes) -> bytes:
        key_id = self._own.key()
        if key_id is None:
            return content
        sealed = self._own.cells.seal(key_id, self._own.place("object", key), content)
        assert isinstance(sealed, bytes)  # as bytes were given
        return sealed

    def _plain_content(self, key: str, stored: bytes) -> bytes:
        opened = self._own.cells.open(self._own.place("object", key), stored)
        assert isinstance(opened, bytes)  # the same
        return opened


_: type[ConditionalStore] = SealedObjects  # checked, never run
