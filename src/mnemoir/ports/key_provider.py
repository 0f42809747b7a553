"""The keeper of the keys that wrap data keys: a file, a variable, a command, or a key service of its own.

    [project.entry-points."mnemoir.key_providers"]
    vault = "our_package:VaultKeys"

The entry is called without arguments and reads its own configuration.
"""

from typing import Protocol


class KeyProvider(Protocol):
    """Wraps data keys of 32 bytes. Methods block and are thread-safe; any error means that it is away."""

    @property
    def kek(self) -> str:
        """The name of the key that wraps now, at most 64 characters; no part of the key itself."""

    def wrap(self, key: bytes, context: bytes) -> bytes:
        """The key, encrypted and bound to the context."""

    def unwrap(self, kek: str, wrapped: bytes, context: bytes) -> bytes:
        """The key that `wrap` encrypted under the name `kek`. Raises KeyError for a name it does not have."""
