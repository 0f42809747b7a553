"""The languages that users ask in, where several servers are to know them."""

from typing import Protocol

from mnemoir.core.scope import Scope


class KeptLanguages(Protocol):
    """The language of each user's last question of some length. Every method raises StorageUnavailable."""

    async def last_of(self, scope: Scope) -> str:
        """The language, as `search.language` names it; "" for none yet."""

    async def note(self, scope: Scope, language: str) -> None:
        """Replace it."""
