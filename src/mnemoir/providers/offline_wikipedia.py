"""HTTP client of an offline Wikipedia service, which the user's configuration names."""

import asyncio
from collections.abc import Mapping
from typing import Any

import aiohttp
import orjson

from mnemoir.core.errors import ProviderInvalidOutput, ProviderRefused, ProviderTimeout, ProviderUnavailable
from mnemoir.ports.node_services import OfflineWikipedia

_MOST_BYTES = 16 * 1024 * 1024  # a long article has a tenth of a megabyte


class HttpOfflineWikipedia:
    """Client over a shared session, which this class does not close.

    Connecting and reading the whole answer take at most `connect_s` + `read_s` seconds. Redirects are not followed.
    """

    def __init__(
        self,
        session: aiohttp.ClientSession,
        *,
        connect_s: float = 5.0,
        read_s: float = 60.0,
        most_bytes: int = _MOST_BYTES,
    ) -> None:
        self._session = session
        self._timeout = aiohttp.ClientTimeout(total=None, connect=connect_s, sock_connect=connect_s)
        self._total_s = connect_s + read_s
        self._most_bytes = most_bytes

    async def get(self, base_url: str, path: str, query: Mapping[str, str]) -> Any:
        """See the port."""
        place = f"The offline Wikipedia at {base_url}"
        try:
            async with asyncio.timeout(self._total_s):
                status, body = await self._get(f"{base_url}{path}", query)
        except TimeoutError as exc:
            raise ProviderTimeout(f"{place} gave no answer in time. Is it running?") from exc
        except (aiohttp.ClientError, OSError) as exc:
            raise ProviderUnavailable(f"{place} could not be reached: {exc}. Is it running?") from exc
        except ValueError as exc:  # of the URL: a host or a text that cannot be written in one
            raise ProviderRefused(f"{place} cannot be requested: {exc}") from exc
        if status == 404:
            return None
        if status != 200:
            raise ProviderUnavailable(f"{place} answered {status}. See its log.", status=status)
        return self._read(place, body)

    async def _get(self, url: str, query: Mapping[str, str]) -> tuple[int, bytes]:
        asked = self._session.get(url, params=query, allow_redirects=False, timeout=self._timeout)
        async with asked as response:
            body = bytearray()
            async for piece in response.content.iter_any():
                body += piece
                if len(body) > self._most_bytes:
                    break
            return response.status, bytes(body)

    def _read(self, place: str, body: bytes) -> Any:
        if len(body) > self._most_bytes:
            raise ProviderInvalidOutput(f"{place} sent more than {self._most_bytes} bytes.")
        try:
            return orjson.loads(body)
        except orjson.JSONDecodeError as exc:
            raise ProviderInvalidOutput(f"{place} did not answer with JSON.") from exc


_: type[OfflineWikipedia] = HttpOfflineWikipedia
