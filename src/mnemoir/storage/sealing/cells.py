"""The encrypted form of a cell, and the codec of a database's cells.

AES-256-GCM with a random nonce. A cell is bound to its table, column, scope and row, so a moved or exchanged cell
does not open. Bytes are `\\x01E1:` ‖ key id (4) ‖ nonce (12) ‖ ciphertext ‖ tag (16). A text is `\\x01E1:`, the key
id as 8 hexadecimal digits, and the rest base64url; so the key of a stored cell can be told in SQL, too.
"""

import binascii
import hmac
import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from mnemoir.core.errors import KeyUnavailable
from mnemoir.storage.sql.tables import Owner

MARK = "\x01E1:"
_MARK = MARK.encode()
_NONCE = 12
_SHORTEST = _NONCE + 16
_TEXT_HEAD, _HEAD = len(MARK) + 8, len(_MARK) + 4


class Keys(Protocol):
    """The data keys. Raises KeyUnavailable."""

    def current(self, owner: Owner) -> int:
        """The id of the key for new cells of an owner, which is made if there is none."""

    def cipher(self, key_id: int) -> AESGCM:
        """The cipher of a key."""

    def hash_key(self, key_id: int) -> bytes:
        """The key of the digests that belongs to a key."""


class Cells:
    """Encrypts and decrypts cells. With `seals` False new cells are plain, and encrypted ones are still read."""

    def __init__(self, keys: Keys, *, seals: bool) -> None:
        self.keys = keys
        self.seals = seals

    def seal(self, key_id: int, place: bytes, cell: str | bytes) -> str | bytes:
        """The stored form of a cell at a place. A blank one is stored as it is. Raises KeyUnavailable."""
        if not cell or cell.isspace():
            return cell
        raw = cell.encode() if isinstance(cell, str) else cell
        nonce = os.urandom(_NONCE)
        sealed = nonce + self.keys.cipher(key_id).encrypt(nonce, raw, place)
        if isinstance(cell, str):
            return prefix_of(key_id) + urlsafe_b64encode(sealed).decode()
        return prefix_bytes_of(key_id) + sealed

    def open(self, place: bytes, stored: str | bytes) -> str | bytes:
        """The cell stored at a place; a plain one is returned as it is. Raises KeyUnavailable."""
        if isinstance(stored, str):
            if not stored.startswith(MARK) or (parts := _parts_of_text(stored)) is None:
                return stored
            return self._opened(place, *parts).decode()
        if not stored.startswith(_MARK) or len(stored) < _HEAD + _SHORTEST:
            return stored
        return self._opened(place, int.from_bytes(stored[len(_MARK) : _HEAD]), stored[_HEAD:])

    def hash(self, key_id: int | None, digest: bytes) -> bytes:
        """The value stored in place of the digest of a text; the digest itself without a key."""
        if key_id is None:
            return digest
        return hmac.digest(self.keys.hash_key(key_id), digest, "sha256")[: len(digest)]

    def _opened(self, place: bytes, key_id: int, sealed: bytes) -> bytes:
        try:
            return self.keys.cipher(key_id).decrypt(sealed[:_NONCE], sealed[_NONCE:], place)
        except InvalidTag as exc:
            raise KeyUnavailable(
                f"An encrypted cell ({place.decode(errors='replace').replace(chr(0), ' ')}) does not open: it was "
                "changed or moved, or its key is another one. Compare with a backup."
            ) from exc


def prefix_of(key_id: int) -> str:
    """How a text that is encrypted with a key begins."""
    return f"{MARK}{key_id:08x}"


def prefix_bytes_of(key_id: int) -> bytes:
    """How bytes that are encrypted with a key begin."""
    return _MARK + key_id.to_bytes(4)


def _parts_of_text(stored: str) -> tuple[int, bytes] | None:
    """(key id, the rest); None for a text of a user that only begins alike."""
    try:
        sealed = urlsafe_b64decode(stored[_TEXT_HEAD:])
        return (int(stored[len(MARK) : _TEXT_HEAD], 16), sealed) if len(sealed) >= _SHORTEST else None
    except (ValueError, binascii.Error):
        return None
