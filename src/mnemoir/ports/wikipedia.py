"""An offline Wikipedia service, asked by workflow nodes."""

from collections.abc import Mapping
from typing import Any, Protocol


class OfflineWikipedia(Protocol):
    """GET requests to the service; the same one for all users."""

    async def get(self, base_url: str, path: str, query: Mapping[str, str]) -> Any:
        """The decoded JSON; None for 404. Raises ProviderError for everything else that is not an answer."""
