"""Translation of the HTTP client's and `wire`'s errors into ProviderErrors that begin with the server's name."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import aiohttp
from aiohttp import http_exceptions

from mnemoir.core.errors import (
    ProviderError,
    ProviderInvalidOutput,
    ProviderTimeout,
    ProviderUnavailable,
    UpstreamNames,
)
from mnemoir.providers.llm.advice import with_advice
from mnemoir.providers.llm.endpoint import Endpoint

# The first matching class decides, so subclasses come before their bases.
_OURS: Sequence[tuple[type[BaseException], type[ProviderError], str]] = (
    (aiohttp.ConnectionTimeoutError, ProviderUnavailable, "could not be reached in time"),
    (TimeoutError, ProviderTimeout, "gave no answer in time"),
    (aiohttp.ClientConnectorDNSError, ProviderUnavailable, "could not be reached: its name does not resolve"),
    (aiohttp.ClientSSLError, ProviderUnavailable, "could not be reached: TLS failed"),
    (aiohttp.ClientConnectorError, ProviderUnavailable, "could not be reached"),
    (aiohttp.ServerDisconnectedError, ProviderUnavailable, "closed the connection without an answer"),
    (aiohttp.ClientPayloadError, ProviderUnavailable, "broke off in the middle of its answer"),
    (aiohttp.InvalidURL, ProviderUnavailable, "could not be reached: its URL is not valid"),
    (aiohttp.ClientResponseError, ProviderInvalidOutput, "answered with something that is not HTTP"),
    (http_exceptions.HttpProcessingError, ProviderInvalidOutput, "answered with something that is not HTTP"),
    (aiohttp.ClientError, ProviderUnavailable, "broke the connection"),
    (aiohttp.WSMessageTypeError, ProviderInvalidOutput, "answered with something that is not HTTP"),
    (OSError, ProviderUnavailable, "broke the connection"),
)


def translated(exc: BaseException, endpoint: Endpoint) -> ProviderError | None:
    """The ProviderError for `exc`; None when `exc` does not come from the network."""
    if isinstance(exc, ProviderError):
        return _named(exc, endpoint)
    for theirs, ours, what in _OURS:
        if isinstance(exc, theirs):
            return ours(f"{endpoint.place} {what}{_detail(exc, endpoint)}.")
    return None


@contextmanager
def provider_errors(endpoint: Endpoint) -> Iterator[None]:
    """Raise ProviderErrors in place of the HTTP client's errors, with all secrets removed."""
    try:
        yield
    except asyncio.CancelledError:
        raise
    except Exception as exc:
        error = translated(exc, endpoint)
        if error is None or error is exc:
            raise
        raise error from exc


def refused(exc: ProviderError, endpoint: Endpoint, said: str) -> ProviderError:
    """The same error with the message `said`, followed by advice; secrets are removed from every part."""
    message = with_advice(endpoint.redacted(said), exc, endpoint.settings)
    names = _without_secrets(exc.names, endpoint)
    return type(exc)(message, code=exc.code, status=exc.status, retry_after_s=exc.retry_after_s, names=names)


def _named(exc: ProviderError, endpoint: Endpoint) -> ProviderError:
    """The same error with the server's name in front; `exc` itself when `refused` has added the name already."""
    if not exc.message.startswith(endpoint.place):
        return refused(exc, endpoint, f"{endpoint.place}: {exc.message}")
    message = endpoint.redacted(exc.message)
    if message == exc.message:
        return exc
    return type(exc)(message, code=exc.code, status=exc.status, retry_after_s=exc.retry_after_s, names=exc.names)


def _without_secrets(names: UpstreamNames, endpoint: Endpoint) -> UpstreamNames:
    """The names without those that contain a secret."""
    given = {"code": names.code, "type": names.type, "param": names.param}
    return UpstreamNames(**{name: text for name, text in given.items() if text and endpoint.redacted(text) == text})


def _detail(exc: BaseException, endpoint: Endpoint) -> str:
    """The operating system's message in brackets; "" when there is none."""
    cause = exc.os_error if isinstance(exc, aiohttp.ClientConnectorError) else exc
    said = getattr(cause, "strerror", None)
    return f" ({endpoint.redacted(said)[:200]})" if isinstance(said, str) and said else ""
