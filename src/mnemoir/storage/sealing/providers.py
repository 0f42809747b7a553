"""The providers of wrapping keys that are built in: a file, an environment variable, and a command.

Each gives one key in a line, 32 bytes as base64; the first wraps, the others only unwrap, so that the key can be
changed.
"""

import hashlib
import os
import stat
import subprocess
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from mnemoir.core import first_use
from mnemoir.core.errors import KeyUnavailable, SettingsError
from mnemoir.ports.key_provider import KeyProvider

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import aead
else:
    aead = first_use.module("cryptography.hazmat.primitives.ciphers.aead")

GROUP = "mnemoir.key_providers"
_NONCE = 12
_COMMAND_S = 30.0
_MOST_BYTES = 64 * 1024


class ListedKeys:
    """Wraps by AES-256-GCM with keys that `read` gives as text; `name` says in errors where they come from."""

    def __init__(self, name: str, read: Callable[[], str]) -> None:
        self._name = name
        self._read = read

    @property
    def kek(self) -> str:
        """A digest of the first key."""
        return next(iter(self._keys()))

    def wrap(self, key: bytes, context: bytes) -> bytes:
        """nonce (12) ‖ ciphertext ‖ tag (16)."""
        nonce = os.urandom(_NONCE)
        return nonce + aead.AESGCM(next(iter(self._keys().values()))).encrypt(nonce, key, context)

    def unwrap(self, kek: str, wrapped: bytes, context: bytes) -> bytes:
        """The key. Raises KeyError for a name that is not among the keys."""
        return aead.AESGCM(self._keys()[kek]).decrypt(wrapped[:_NONCE], wrapped[_NONCE:], context)

    def _keys(self) -> Mapping[str, bytes]:
        keys = [_key(line, self._name) for line in self._read().split()]
        if not keys:
            raise KeyUnavailable(f"{self._name} holds no key. Make one with `openssl rand -base64 32`.")
        return {hashlib.sha256(b"mnemoir key\0" + key).hexdigest()[:16]: key for key in keys}


def file_keys(path: Path) -> ListedKeys:
    """The keys of a file that only its owner may read."""
    return ListedKeys(str(path), lambda: _private_text(path))


def variable_keys(name: str) -> ListedKeys:
    """The keys of an environment variable."""
    return ListedKeys(f"The variable {name}", lambda: os.environ.get(name, ""))


def command_keys(command: Sequence[str]) -> ListedKeys:
    """The keys that a command prints; it runs without a shell."""
    return ListedKeys(f"The command {command[0]}", lambda: _output_of(command))


def installed_keys(name: str) -> KeyProvider:
    """The provider that an installed package lists under a name. Raises SettingsError."""
    listed = sorted(entry_points(group=GROUP, name=name), key=lambda entry: entry.value)
    if not listed:
        raise SettingsError(
            f"encryption.provider is {name!r}, and no installed package lists it in {GROUP}. Use file, env or "
            "command, or install the package."
        )
    try:
        made: KeyProvider = listed[0].load()()
    except Exception as exc:  # another package may raise anything
        raise SettingsError(
            f"encryption.provider {name} = {listed[0].value} cannot be used: {type(exc).__name__}: {exc}"
        ) from exc
    return made


def _key(text: str, name: str) -> bytes:
    try:
        key = b64decode(text, validate=True)
    except ValueError:
        key = b""
    if len(key) != 32:
        raise KeyUnavailable(
            f"{name} holds something else than keys of 32 bytes in base64, one a line. Make one with "
            "`openssl rand -base64 32`."
        )
    return key


def _private_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                raise KeyUnavailable(f"{path} may be read by others than its owner. Run `chmod 600 {path}`.")
            return file.read(_MOST_BYTES).decode("ascii", "replace")
    except OSError as exc:
        raise KeyUnavailable(f"{path} cannot be read ({exc.strerror}). Put the file of keys back.") from exc


def _output_of(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, timeout=_COMMAND_S, check=True, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError) as exc:
        raise KeyUnavailable(f"The command {command[0]} gave no keys: {type(exc).__name__}.") from exc
    return done.stdout[:_MOST_BYTES].decode("ascii", "replace")
