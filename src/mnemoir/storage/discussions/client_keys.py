"""The format's own encryption: files in a folder for each client's key, and encrypted by it if the user wants that.

The folder is named by the first 16 hex digits of the key's SHA-256. A file is one Fernet token; its key comes of the
client's key by PBKDF2 with a salt of the config user's name, so that a key opens nothing of another user's. A file
that is no token is read as it is, and becomes one when it is next written. Databases of records stay plain.
"""

import asyncio
import hashlib
import re
from base64 import urlsafe_b64encode
from collections import OrderedDict
from typing import TYPE_CHECKING

from mnemoir.core import first_use
from mnemoir.core.discussions import ClientFolder
from mnemoir.core.errors import KeyUnavailable

if TYPE_CHECKING:
    from cryptography import fernet
else:
    fernet = first_use.module("cryptography.fernet")

_ROUNDS = 100_000
_FOLDER_DIGITS = 16
_FOLDER = re.compile(r"[0-9a-f]{16}")
_TOKEN = re.compile(rb"gAAAA[A-Za-z0-9_-]")  # version and time of a token, base64url; no JSON begins like it
_MOST_KEPT = 256  # derived keys, about 200 bytes each


class ClientKeyRing:
    """Keys of files, derived of clients' keys one at a time; those used last are kept in memory."""

    def __init__(self, most_kept: int = _MOST_KEPT) -> None:
        self._most_kept = most_kept
        self._kept: OrderedDict[bytes, bytes] = OrderedDict()
        self._deriving = asyncio.Lock()  # 30 ms of a processor each: many wrong keys must not take all threads

    async def folder(self, client_key: str, user: str | None) -> ClientFolder:
        """The folder of a client's key; its files are plain without the name of a `user`."""
        name = folder_name(client_key)
        return ClientFolder(name=name, secret=None if user is None else await self._secret(client_key, user))

    async def _secret(self, client_key: str, user: str) -> bytes:
        known_as = hashlib.sha256(f"{len(user)} {user} {client_key}".encode("utf-8", "surrogatepass")).digest()
        if known_as not in self._kept:
            async with self._deriving:
                if known_as not in self._kept:
                    self._kept[known_as] = await asyncio.to_thread(fernet_key_of, client_key, user)
                    while len(self._kept) > self._most_kept:
                        self._kept.popitem(last=False)
        self._kept.move_to_end(known_as)
        return self._kept[known_as]


def folder_name(client_key: str) -> str:
    """The name of the folder of a client's key."""
    return hashlib.sha256(client_key.encode("utf-8", "surrogatepass")).hexdigest()[:_FOLDER_DIGITS]


def is_folder_name(name: str) -> bool:
    """True for a name that the folder of a client's key may have."""
    return _FOLDER.fullmatch(name) is not None


def fernet_key_of(client_key: str, user: str) -> bytes:
    """The Fernet key of a client's key for a config user. Blocks for about 30 ms."""
    salt = f"WilmerAI-v1-{hashlib.sha256(user.encode()).hexdigest()}".encode()
    key = client_key.encode("utf-8", "surrogatepass")
    return urlsafe_b64encode(hashlib.pbkdf2_hmac("sha256", key, salt, _ROUNDS))


def sealed_content(content: bytes, secret: bytes) -> bytes:
    """The content encrypted as one Fernet token."""
    return fernet.Fernet(secret).encrypt(content)


def plain_content(content: bytes, secret: bytes | None, name: str) -> bytes:
    """The decrypted content of the file `name`; content that is no Fernet token is returned unchanged.

    Raises KeyUnavailable.
    """
    token = content.strip()
    if _TOKEN.match(token) is None:
        return content
    if secret is None:
        raise KeyUnavailable(
            f"{name} is encrypted by a client's key. Send that key, and have encryptUsingApiKey true in the file of "
            "the config user."
        )
    try:
        return fernet.Fernet(secret).decrypt(token)
    except fernet.InvalidToken as exc:
        raise KeyUnavailable(
            f"{name} cannot be decrypted: it was encrypted by another key, or for another config user (also one "
            "whose name is spelled differently), or it is damaged. Nothing was changed. Send the key that it was "
            "written with, or put a backup in its place."
        ) from exc
