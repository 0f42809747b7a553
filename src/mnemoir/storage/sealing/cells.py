"""The encrypted form of a cell, and the codec of a database's cells.

AES-256-GCM with a random nonce. A cell is bound to its table, column, scope and row, so a moved or exchanged cell
does not open. Bytes are `\\x01E1:` ‖ key id (4) ‖ nonce (12) ‖ ciphertext ‖ tag (16). A text is `\\x01E1:`, the key
id as 8 hexadecimal digits, and the rest base64url; so the key of a stored cell can be told in SQL, too. Columns that
are always read together are one cell: `\\x01E2:`, and of bytes the rest, whose plain form is their lengths (4 bytes
each, the greatest number for NULL) and they themselves.
"""

import hmac
import os
import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from mnemoir.core import first_use
from mnemoir.core.errors import KeyUnavailable
from mnemoir.storage.sql.tables import Owner

if TYPE_CHECKING:
    from cryptography import exceptions
    from cryptography.hazmat.primitives.ciphers import aead
else:
    aead = first_use.module("cryptography.hazmat.primitives.ciphers.aead")
    exceptions = first_use.module("cryptography.exceptions")

MARK = "\x01E1:"
JOINED_MARK = b"\x01E2:"
_MARK = MARK.encode()
_NULL = 2**32 - 1  # its length among joined columns
_NONCE = 12
_TEXT_HEAD, _HEAD = len(MARK) + 8, len(_MARK) + 4
_BEGIN = _HEAD + _NONCE  # of the ciphertext
OVERHEAD = _SHORTEST = _BEGIN + 16  # bytes that an encrypted cell of bytes has more than a plain one


class Keys(Protocol):
    """The data keys. Raises KeyUnavailable."""

    def current(self, owner: Owner) -> int:
        """The id of the key for new cells of an owner, which is made if there is none."""

    def cipher(self, key_id: int) -> "aead.AESGCM":
        """The cipher of a key."""

    def hash_key(self, key_id: int) -> bytes:
        """The key of the digests that belongs to a key."""


class Cells:
    """Encrypts and decrypts cells. With `seals` False new cells are plain, and encrypted ones are still read."""

    def __init__(self, keys: Keys, *, seals: bool) -> None:
        self.keys = keys
        self.seals = seals

    def seal(self, key_id: int, place: bytes, cell: str | bytes) -> str | bytes:
        """The stored form of a cell at a place, of its own type; a blank one is stored as it is.

        Raises KeyUnavailable.
        """
        if not cell or cell.isspace():
            return cell
        raw = cell.encode() if isinstance(cell, str) else cell
        nonce = os.urandom(_NONCE)
        sealed = nonce + self.keys.cipher(key_id).encrypt(nonce, raw, place)
        if isinstance(cell, str):
            return prefix_of(key_id) + urlsafe_b64encode(sealed).decode()
        return prefix_bytes_of(key_id) + sealed

    def seal_joined(self, key_id: int, place: bytes, columns: Sequence[str | bytes | None]) -> bytes:
        """The stored form of several columns as one cell. Raises KeyUnavailable."""
        cells = [column.encode() if isinstance(column, str) else column for column in columns]
        lengths = [_NULL if cell is None else len(cell) for cell in cells]
        raw = b"".join((_lengths(len(cells)).pack(*lengths), *filter(None, cells)))
        nonce = os.urandom(_NONCE)
        return joined_prefix_of(key_id) + nonce + self.keys.cipher(key_id).encrypt(nonce, raw, place)

    def open(self, place: bytes, stored: str | bytes) -> str | bytes:
        """The cell stored at a place; a plain one is returned as it is. Raises KeyUnavailable."""
        return Opening(self.keys).open(place, stored)

    def hash(self, key_id: int | None, digest: bytes) -> bytes:
        """The value stored in place of the digest of a text; the digest itself without a key."""
        if key_id is None:
            return digest
        return hmac.digest(self.keys.hash_key(key_id), digest, "sha256")[: len(digest)]


@dataclass(frozen=True, slots=True)
class OwnCells:
    """What encrypts the files of one owner, whose name is part of each cell's place."""

    cells: Cells
    owner: Owner

    def key(self) -> int | None:
        """The id of the owner's key for new cells; None while these are plain. Raises KeyUnavailable."""
        return self.cells.keys.current(self.owner) if self.cells.seals else None

    def place(self, *names: str) -> bytes:
        """The place of something that is no cell of a table."""
        return "\0".join((*names[:1], "\1".join(self.owner), *names[1:])).encode()


class Opening:
    """Decrypts the cells of one query, which mostly have one key: it is looked up when another one comes."""

    __slots__ = ("_decrypt", "_head", "_joined_head", "_keys")

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._head = self._joined_head = b"\0"  # of no cell
        self._decrypt: Callable[[bytes, bytes, bytes], bytes] = _no_cell_yet

    def open_row(self, row: list[Any], places: Sequence[tuple[int, bytes]], key: bytes) -> None:
        """Decrypt the cells of a row at these indexes, each at the place that is named there and ends with the key.

        Tens of thousands may be read at once, so that this is one loop.
        """
        head, decrypt = self._head, self._decrypt
        for index, place in places:
            stored = row[index]
            if stored.__class__ is bytes and stored[:_HEAD] == head:
                try:
                    row[index] = decrypt(stored[_HEAD:_BEGIN], stored[_BEGIN:], place + key)
                except exceptions.InvalidTag as exc:
                    raise _cell_error(place + key) from exc
            elif stored and isinstance(stored, str | bytes):
                row[index] = self.open(place + key, stored)
                head, decrypt = self._head, self._decrypt

    def open_joined(self, row: list[Any], indexes: Sequence[int], place: bytes) -> bool:
        """Decrypt the columns of a row at these indexes; False where they are no one cell."""
        stored = row[indexes[0]]
        if stored.__class__ is not bytes or stored[:_HEAD] != self._joined_head:
            if not is_joined(stored):
                return False
            self._use_key_of(stored)
        try:
            raw = self._decrypt(stored[_HEAD:_BEGIN], stored[_BEGIN:], place)
        except exceptions.InvalidTag as exc:
            raise _cell_error(place) from exc
        lengths = _lengths(len(indexes))
        at = lengths.size
        for index, length in zip(indexes, lengths.unpack_from(raw)):  # noqa: B905  # checking it costs a tenth
            row[index] = None if length == _NULL else raw[at : (at := at + length)]
        return True

    def open(self, place: bytes, stored: str | bytes) -> str | bytes:
        """The same as `Cells.open`."""
        if isinstance(stored, str):
            if not stored.startswith(MARK) or (sealed := _bytes_of_text(stored)) is None:
                return stored
            return self._plain_bytes(place, sealed).decode()
        if not stored.startswith(_MARK) or len(stored) < _SHORTEST:
            return stored
        return self._plain_bytes(place, stored)

    def _plain_bytes(self, place: bytes, sealed: bytes) -> bytes:
        if sealed[:_HEAD] != self._head:
            self._use_key_of(sealed)
        try:
            return self._decrypt(sealed[_HEAD:_BEGIN], sealed[_BEGIN:], place)
        except exceptions.InvalidTag as exc:
            raise _cell_error(place) from exc

    def _use_key_of(self, sealed: bytes) -> None:
        key_id = int.from_bytes(sealed[len(_MARK) : _HEAD])
        self._decrypt = self._keys.cipher(key_id).decrypt
        self._head, self._joined_head = prefix_bytes_of(key_id), joined_prefix_of(key_id)


@cache
def _lengths(count: int) -> struct.Struct:
    return struct.Struct(f"<{count}I")


def _no_cell_yet(nonce: bytes, sealed: bytes, place: bytes) -> bytes:
    raise AssertionError(place)  # a key is looked up before


def _cell_error(place: bytes) -> KeyUnavailable:
    named = place.decode(errors="replace").replace("\0", " ")
    return KeyUnavailable(
        f"An encrypted cell ({named}) does not open: it was changed or moved, or its key is another one. Compare "
        "with a backup."
    )


def prefix_of(key_id: int) -> str:
    """How a text that is encrypted with a key begins."""
    return f"{MARK}{key_id:08x}"


def prefix_bytes_of(key_id: int) -> bytes:
    """How bytes that are encrypted with a key begin."""
    return _MARK + key_id.to_bytes(4)


def joined_prefix_of(key_id: int) -> bytes:
    """How columns that are one cell begin, encrypted with a key."""
    return JOINED_MARK + key_id.to_bytes(4)


def is_sealed(stored: bytes, key_id: int | None = None) -> bool:
    """True for encrypted bytes, of which the beginning is enough; with a key, for those of that key."""
    return len(stored) >= _SHORTEST and stored.startswith(_MARK if key_id is None else prefix_bytes_of(key_id))


def is_joined(stored: object) -> bool:
    """True for several columns that are one cell."""
    return isinstance(stored, bytes) and stored.startswith(JOINED_MARK) and len(stored) >= _SHORTEST


def _bytes_of_text(stored: str) -> bytes | None:
    """An encrypted text as bytes; None for a text of a user that only begins alike."""
    try:
        sealed = _MARK + bytes.fromhex(stored[len(MARK) : _TEXT_HEAD]) + urlsafe_b64decode(stored[_TEXT_HEAD:])
    except ValueError:
        return None
    return sealed if len(sealed) >= _SHORTEST else None
