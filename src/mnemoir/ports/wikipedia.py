"""The offline Wikipedia service that workflow nodes query."""

from collections.abc import Mapping
from typing import Any, Protocol


class OfflineWikipedia(Protocol):
    """A client for GET requests, shared by all users; each request names the address of the service."""

    async def get(self, base_url: str, path: str, query: Mapping[str, str]) -> Any:
        """The decoded JSON answer; None for 404. Raises ProviderError for any other failure."""
