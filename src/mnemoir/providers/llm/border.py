"""Translation of the HTTP client's and `wire`'s errors into ProviderErrors that begin with the server's name.

A refusal gets a sentence of advice. The error names of the server say more than its status, so they are checked
first.
"""

from collections.abc import Callable, Mapping, Sequence

import aiohttp
from aiohttp import http_exceptions

from mnemoir.core.errors import (
    ProviderError,
    ProviderInvalidOutput,
    ProviderTimeout,
    ProviderUnavailable,
    UpstreamNames,
)
from mnemoir.providers.llm.encodings import unread_encoding
from mnemoir.providers.llm.endpoint import Endpoint, SettingNames
from mnemoir.wire.upstream import FailedAnswer, QuotaExhausted

_TOO_LONG = "Shorten the conversation, or take a model with a larger context."
_NO_CREDIT = "Its account has no credit left, and waiting does not help: add credit there, or take another model."
_BY_NAME: Mapping[str, str] = {
    "context_length_exceeded": _TOO_LONG,
    "exceed_context_size_error": _TOO_LONG,  # llama.cpp's
}
_BY_STATUS: Mapping[int, Callable[[SettingNames], str]] = {
    401: lambda settings: f"Check {settings.key}.",
    402: lambda _: _NO_CREDIT,
    403: lambda settings: f"Check what the account may use, and {settings.key}.",
    404: lambda settings: f"Check {settings.model} and {settings.url}.",
    429: lambda _: "Try again later.",
}
# The first matching class decides, so subclasses come before their bases.
_OURS: Sequence[tuple[type[BaseException], type[ProviderError], str]] = (
    (aiohttp.ConnectionTimeoutError, ProviderUnavailable, "could not be reached in time"),
    (TimeoutError, ProviderTimeout, "gave no answer in time"),
    (aiohttp.ClientConnectorDNSError, ProviderUnavailable, "could not be reached: its name does not resolve"),
    (aiohttp.ClientSSLError, ProviderUnavailable, "could not be reached: TLS failed"),
    (aiohttp.ClientConnectorError, ProviderUnavailable, "could not be reached"),
    (aiohttp.ServerDisconnectedError, ProviderUnavailable, "closed the connection without an answer"),
    (aiohttp.ClientPayloadError, FailedAnswer, "broke off in the middle of its answer"),
    (aiohttp.InvalidURL, ProviderUnavailable, "could not be reached: its URL is not valid"),
    (aiohttp.ClientHttpProxyError, ProviderUnavailable, "could not be reached: the proxy refuses"),
    (aiohttp.ClientResponseError, ProviderInvalidOutput, "answered with something that is not HTTP"),
    (http_exceptions.HttpProcessingError, ProviderInvalidOutput, "answered with something that is not HTTP"),
    (aiohttp.ClientError, ProviderUnavailable, "broke the connection"),
    (aiohttp.WSMessageTypeError, ProviderInvalidOutput, "answered with something that is not HTTP"),
    (OSError, ProviderUnavailable, "broke the connection"),
)


def advice(error: ProviderError, settings: SettingNames) -> str:
    """The sentence for `error`; "" when there is none and the server's message has to suffice."""
    if isinstance(error, QuotaExhausted):
        return _NO_CREDIT
    names = [name for name in (error.names.code, error.names.type) if name]
    by_name = next((_BY_NAME[name] for name in names if name in _BY_NAME), None)
    if by_name is not None:
        return by_name
    if "model_not_found" in names:
        return f"Check {settings.model}."
    by_status = _BY_STATUS.get(error.status or 0)
    return "" if by_status is None else by_status(settings)


def with_advice(message: str, error: ProviderError, settings: SettingNames) -> str:
    """`message` followed by the advice for `error`, if there is any."""
    step = advice(error, settings)
    if not step:
        return message
    return f"{message} {step}" if message.endswith((".", "!", "?")) else f"{message}. {step}"


def provider_error_of(exc: BaseException, endpoint: Endpoint) -> ProviderError | None:
    """The ProviderError for `exc`; None when `exc` does not come from the network."""
    if isinstance(exc, ProviderError):
        return _with_server_name(exc, endpoint)
    if isinstance(exc, aiohttp.ClientResponseError) and (encoding := unread_encoding(exc)):
        return ProviderInvalidOutput(
            f"{endpoint.place} compressed its answer as {encoding!r}, which is not read here, and no compression was "
            "asked for. Switch it off there, or in the proxy before it."
        )
    for theirs, ours, what in _OURS:
        if isinstance(exc, theirs):
            return ours(f"{endpoint.place} {what}{_detail(exc, endpoint)}.")
    return None


class provider_errors:  # a class, named like a function: a generator costs each call of a model more
    """Raise ProviderErrors in place of the HTTP client's errors, with all secrets removed."""

    __slots__ = ("_endpoint",)

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, trace: object) -> None:
        error = provider_error_of(exc, self._endpoint) if isinstance(exc, Exception) else None
        if error is not None and error is not exc:
            raise error from exc


def with_message(exc: ProviderError, endpoint: Endpoint, said: str) -> ProviderError:
    """The error with the message `said` and advice behind it, without secrets in any part."""
    message = with_advice(endpoint.redacted_text(said), exc, endpoint.settings)
    names = _without_secrets(exc.names, endpoint)
    return type(exc)(message, code=exc.code, status=exc.status, retry_after_s=exc.retry_after_s, names=names)


def _with_server_name(exc: ProviderError, endpoint: Endpoint) -> ProviderError:
    """The error with the server's name in front of its message; `exc` itself when the name is there already."""
    if not exc.message.startswith(endpoint.place):
        return with_message(exc, endpoint, f"{endpoint.place}: {exc.message}")
    message = endpoint.redacted_text(exc.message)
    if message == exc.message:
        return exc
    return type(exc)(message, code=exc.code, status=exc.status, retry_after_s=exc.retry_after_s, names=exc.names)


def _without_secrets(names: UpstreamNames, endpoint: Endpoint) -> UpstreamNames:
    """The names without those that contain a secret."""
    given = {"code": names.code, "type": names.type, "param": names.param}
    return UpstreamNames(
        **{name: text for name, text in given.items() if text and endpoint.redacted_text(text) == text}
    )


def _detail(exc: BaseException, endpoint: Endpoint) -> str:
    """The operating system's message in brackets, or the status of a proxy; "" when there is none."""
    if isinstance(exc, aiohttp.ClientHttpProxyError):
        return f" ({getattr(exc, 'status', 'no status')})"
    cause = exc.os_error if isinstance(exc, aiohttp.ClientConnectorError) else exc
    said = getattr(cause, "strerror", None)
    return f" ({endpoint.redacted_text(said)[:200]})" if isinstance(said, str) and said else ""
