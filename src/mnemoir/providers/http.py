"""The one HTTP session that every call to another program goes out on."""

from io import BytesIO

import aiohttp

from mnemoir import __version__

_MOST_AT_ONCE = 1024 * 1024


def new_session() -> aiohttp.ClientSession:
    """A session for calls to models; call it inside the event loop that will use it.

    No proxy and no netrc from the environment, no cookies, no limit of its own on connections (the server's door
    has one; a second queue here would only hide it), and no compression asked for: it costs more than the local
    network it would save, and delays small events.
    """
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=30, ttl_dns_cache=10),
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
        timeout=aiohttp.ClientTimeout(total=None),  # each call brings its own
        headers={"User-Agent": f"mnemoir/{__version__}", "Accept-Encoding": "identity"},
        read_bufsize=64 * 1024,
    )


async def most_of(answer: aiohttp.ClientResponse, most_bytes: int) -> bytes | None:
    """The whole body of an answer; None for a larger one, of which no more is read."""
    body = bytearray()
    async for piece in answer.content.iter_any():
        body += piece
        if len(body) > most_bytes:
            return None
    return bytes(body)


def in_turns(body: bytes) -> bytes | BytesIO:
    """A body to send; a long one so that it is written in pieces, and other calls get their turn in between."""
    return body if len(body) <= _MOST_AT_ONCE else BytesIO(body)
