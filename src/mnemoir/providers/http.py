"""The HTTP session of all calls to other programs, and helpers for request and response bodies."""

from io import BytesIO

import aiohttp

from mnemoir import __version__

_MOST_AT_ONCE = 1024 * 1024


def new_session() -> aiohttp.ClientSession:
    """A new session for calls to models; create it inside the event loop that will use it.

    It takes no proxy and no netrc from the environment, keeps no cookies and does not limit connections (the server
    limits its requests; a second queue here would only hide that limit). It asks for no compression, which costs more
    time than a local network saves and delays small events.
    """
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=30, ttl_dns_cache=10),
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
        timeout=aiohttp.ClientTimeout(total=None),  # each call sets its own
        headers={"User-Agent": f"mnemoir/{__version__}", "Accept-Encoding": "identity"},
        read_bufsize=64 * 1024,
    )


async def most_of(answer: aiohttp.ClientResponse, most_bytes: int) -> bytes | None:
    """The whole body of a response; None when it is larger than `most_bytes`, and reading stops there."""
    body = bytearray()
    async for piece in answer.content.iter_any():
        body += piece
        if len(body) > most_bytes:
            return None
    return bytes(body)


def in_turns(body: bytes) -> bytes | BytesIO:
    """The body to send; above 1 MiB it becomes a stream, so that other calls get their turn between its pieces."""
    return body if len(body) <= _MOST_AT_ONCE else BytesIO(body)
