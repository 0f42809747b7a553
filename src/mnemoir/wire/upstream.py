"""Defensive readers for answers of a model's server: its JSON, its counts, its errors.

Compatible servers differ most in the shape of their errors. From any shape the message is kept, cut to a limited
length, and the failure becomes one of Mnemoir's error classes. The server's type and code of the error stay with
it, because clients decide by them. `is_passing` is True when a retry may help.
"""

import re
from collections.abc import Mapping
from typing import Any

import orjson

from mnemoir.core.errors import (
    NO_NAMES,
    ProviderError,
    ProviderInvalidOutput,
    ProviderRefused,
    ProviderUnavailable,
    UpstreamNames,
)
from mnemoir.core.events import FinishReason

MOST_MESSAGE_CHARACTERS = 2_000

_REASONS: Mapping[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "max_tokens": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
}
_NAME = re.compile(r"(?=.*[A-Za-z])[A-Za-z0-9_.:\-\[\]]{1,64}", re.ASCII)  # a bare number repeats the status
_AUTH_KINDS = {"invalid_api_key", "authentication_error", "invalid_authentication"}
_QUOTA_KINDS = {"insufficient_quota", "billing_hard_limit_reached", "quota_exceeded"}
_STATUS_OF_KIND = {
    **dict.fromkeys(_AUTH_KINDS, 401),
    "permission_error": 403,
    "permission_denied": 403,
    "model_not_found": 404,
    "not_found_error": 404,
    **dict.fromkeys(_QUOTA_KINDS, 429),
    "rate_limit_exceeded": 429,
    "rate_limit_error": 429,
    "invalid_request_error": 400,
    "invalid_prompt": 400,
    "context_length_exceeded": 400,
    "server_error": 500,
    "overloaded_error": 503,
}


class QuotaExhausted(ProviderRefused):
    """A 429 that no waiting resolves: the account has no credit left."""

    code = "llm_rate_limited"


def decode(data: bytes) -> dict[str, Any]:
    """Decode one JSON object. Raises ProviderInvalidOutput for anything else."""
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as exc:
        raise ProviderInvalidOutput(f"The model's server sent something that is not JSON: {excerpt(data)}") from exc
    if value.__class__ is not dict:
        raise ProviderInvalidOutput(f"The model's server sent JSON that is not an object: {excerpt(data)}")
    return value


def excerpt(data: bytes) -> str:
    """The beginning of the data that was sent, short enough for a message."""
    return repr(data[:120].decode("utf-8", "replace"))


def unusable(what: str) -> ProviderInvalidOutput:
    """The error for a reply that lacks a required part of an answer."""
    return ProviderInvalidOutput(f"The model's server sent an answer with {what}.")


def count(value: object) -> int:
    """A token count: whole, not negative; a number in a string counts, anything else is 0."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 16:
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return 0
    return max(0, value)


def text_or_none(value: object, what: str) -> str | None:
    """A string or None. Raises ProviderInvalidOutput naming `what` for another type."""
    if value is None or isinstance(value, str):
        return value
    raise unusable(f"{what} that is not text")


def member(value: object, name: str) -> Any:
    """`value[name]`, if `value` is an object that has it; None otherwise."""
    return value.get(name) if isinstance(value, Mapping) else None


def finish_reason(value: object, *, has_calls: bool) -> FinishReason:
    """The FinishReason for a server's value. `stop` after tool calls means that the calls are the answer."""
    reason = _REASONS.get(value, "stop") if isinstance(value, str) else "stop"
    return "tool_calls" if has_calls and reason == "stop" else reason


def refusal(
    status: int,
    message: str,
    *,
    quota: bool = False,
    retry_after_s: float | None = None,
    names: UpstreamNames = NO_NAMES,
) -> ProviderError:
    """The error for an HTTP status of 400 and up."""
    if status >= 500:
        return ProviderUnavailable(message, status=status, retry_after_s=retry_after_s, names=names)
    if status == 429:
        kind = QuotaExhausted if quota else ProviderRefused
        return kind(message, code="llm_rate_limited", status=429, retry_after_s=retry_after_s, names=names)
    code = "llm_auth_failed" if status in (401, 403) else "llm_bad_request"
    return ProviderRefused(message, code=code, status=status, retry_after_s=retry_after_s, names=names)


def error_in_body(body: object, *, status: int | None = None, retry_after_s: float | None = None) -> ProviderError:
    """The error for an error object, in any of the shapes in use. Without `status`, its code or type decides."""
    error = member(body, "error") or body
    kinds = [kind for kind in (_kind(error, name) for name in ("code", "type", "status")) if kind]
    if status is None:
        status = next((found for kind in kinds if (found := _status(kind))), None)
    message, names = _message(error), _names(error)
    if status is None:
        return ProviderUnavailable(message, names=names)
    is_quota = not _QUOTA_KINDS.isdisjoint(kinds)
    return refusal(status, message, quota=is_quota, retry_after_s=retry_after_s, names=names)


def is_passing(error: ProviderError) -> bool:
    """True when the same request may succeed a little later."""
    if isinstance(error, QuotaExhausted):
        return False
    if isinstance(error, ProviderUnavailable):
        return True
    return isinstance(error, ProviderRefused) and error.status in (408, 409, 429)


def is_quota(names: UpstreamNames) -> bool:
    """True when these names tell of an account without credit, so that waiting does not help."""
    return not _QUOTA_KINDS.isdisjoint({(names.code or "").lower(), (names.type or "").lower()})


def ended_early() -> ProviderUnavailable:
    """The error for a stream whose body ended without the protocol's end."""
    return ProviderUnavailable("The model's stream ended before its answer was complete.")


def _names(error: object) -> UpstreamNames:
    """The names in an error object that are short and of plain characters; all others are left out."""
    given = {name: member(error, name) for name in ("code", "type", "param")}
    return UpstreamNames(
        **{name: text for name, text in given.items() if isinstance(text, str) and _NAME.fullmatch(text)}
    )


def _kind(error: object, name: str) -> str:
    value = member(error, name)
    return str(value).lower() if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _status(kind: str) -> int | None:
    if kind.isascii() and kind.isdigit() and len(kind) == 3 and int(kind) >= 400:
        return int(kind)
    return _STATUS_OF_KIND.get(kind)


def _message(error: object) -> str:
    """The server's own message; the whole object as text when it has none."""
    said = next((m for name in ("message", "detail", "error") if isinstance(m := member(error, name), str)), None)
    if said is None:
        said = error if isinstance(error, str) else orjson.dumps(error, default=str).decode()
    return said[:MOST_MESSAGE_CHARACTERS]
