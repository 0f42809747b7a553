"""Defensive readers for answers of a model's server: its JSON, its counts, its errors.

Compatible servers differ most in the shape of their errors. From any shape the message is kept, cut to a limited
length, and the failure becomes one of Mnemoir's error classes. The server's type and code of the error stay with
it, because clients decide by them. `is_passing` is True when a retry may help.
"""

import html
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
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
from mnemoir.wire.members import is_object
from mnemoir.wire.second_reading import mended_text
from mnemoir.wire.stream_readers import NamedEvent, SseReader

MOST_MESSAGE_CHARACTERS = 2_000
_LONGEST_LINE = 200  # of a page or a text that is no error object
_STREAMS = ("text/event-stream", "application/x-ndjson", "application/jsonl", "application/x-jsonlines")
_HIDDEN = re.compile(r"<(script|style)\b.*?</\1\s*>|<!--.*?-->", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
_MOST_OF_PAGE = 8 * 1024  # in bytes; its first words stand near its beginning
_WORDS = (
    *("message", "detail", "error", "msg", "errors", "error_msg", "errorMessage", "error_message", "Message"),
    *("fault", "faultstring", "status_msg", "err", "errmsg", "errMsg", "error_description", "exception", "title"),
)
_NO_COUNT = 10**15  # no answer has so many tokens, and sums of such counts could not be stored
_DEEPEST_WORDS = 4  # an error within an error within one

_NAME = re.compile(r"(?=.*[A-Za-z])[A-Za-z0-9_.:\-\[\]]{1,64}", re.ASCII)  # a bare number repeats the status
_AUTH_KINDS = {"invalid_api_key", "authentication_error", "invalid_authentication"}
_QUOTA_KINDS = {"insufficient_quota", "billing_hard_limit_reached", "quota_exceeded"}
_KINDS = ("code", "type", "status", "status_code", "statusCode", "StatusCode", "error_code", "errorCode", "error")
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
    "service_unavailable": 503,
}


class QuotaExhausted(ProviderRefused):
    """A 429 that no waiting resolves: the account has no credit left."""

    code = "llm_rate_limited"


class FailedAnswer(ProviderUnavailable):
    """The server did answer, with an error of no status, or with an answer that broke off."""


def decode(data: bytes) -> dict[str, Any]:
    """Decode one JSON object, without mending it. Raises ProviderInvalidOutput for anything else."""
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as exc:
        raise not_json(data) from exc
    if value.__class__ is not dict:
        raise not_an_object(data)
    return value


def not_json(data: bytes) -> ProviderInvalidOutput:
    """The error for data that cannot be read."""
    return ProviderInvalidOutput(f"The model's server sent something that is not JSON: {excerpt(data)}")


def not_an_object(data: bytes) -> ProviderInvalidOutput:
    """The error for JSON of another kind."""
    return ProviderInvalidOutput(f"The model's server sent JSON that is not an object: {excerpt(data)}")


def excerpt(data: bytes) -> str:
    """The beginning of the data that was sent, short enough for a message."""
    return repr(data[:120].decode("utf-8", "replace"))


def is_stream_label(media_type: str) -> bool:
    """True for the content types of events and of JSON lines."""
    return media_type.partition(";")[0].strip().lower() in _STREAMS


def in_utf8(data: bytes, media_type: str) -> bytes:
    """Data that is not in UTF-8, from the charset of its label; as it is where that does not fit.

    Many labels are wrong, so data in UTF-8 stays.
    """
    charset = media_type.partition("charset=")[2].strip(" \"'")
    try:
        data.decode()
    except UnicodeDecodeError:
        with suppress(LookupError, UnicodeError):
            return data.decode(charset or "utf-8").encode()
    return data


def error_value(data: bytes) -> Any:
    """What a body that is an error says: its object, that of an event, the first line of a page, or its text."""
    data = data.lstrip().removeprefix(b"\xef\xbb\xbf").strip()
    if data.startswith(b"<"):
        return words_of_page(data)
    try:
        value = mended_text(data)
        return value[0] if isinstance(value, list) and value else value
    except orjson.JSONDecodeError:
        in_event = next(_objects_in_events(data), None)
    return in_event or data.decode("utf-8", "replace")[:_LONGEST_LINE]


def _objects_in_events(data: bytes) -> Iterator[Any]:
    reader = SseReader()
    for event in (*reader.feed(data), *reader.end()):
        said = event.data if isinstance(event, NamedEvent) else event
        try:
            value = mended_text(said)
        except orjson.JSONDecodeError:
            value = said.decode("utf-8", "replace") if isinstance(event, NamedEvent) else None
        if value:
            yield value


def words_of_page(data: bytes) -> str:
    """The first line of the text of a page of HTML; "" for one without text."""
    text = _TAG.sub("\n", _HIDDEN.sub("", data[:_MOST_OF_PAGE].decode("utf-8", "replace")))
    lines = (html.unescape(line).strip() for line in text.splitlines())
    return next((line for line in lines if line), "")[:_LONGEST_LINE]


def unusable(what: str) -> ProviderInvalidOutput:
    """The error for a reply that lacks a required part of an answer."""
    return ProviderInvalidOutput(f"The model's server sent an answer with {what}.")


def no_answer(what: str, body: Mapping[str, Any]) -> ProviderInvalidOutput:
    """The error for an object that is no answer, with its beginning, which may be an error in a shape of its own."""
    return unusable(f"{what}: {excerpt(_json_of(body))}")


def too_deep(what: str) -> ProviderInvalidOutput:
    """The error for a part of an answer of more levels than JSON is written with here."""
    return unusable(f"{what} of more than 254 levels, which cannot be passed on")


def _json_of(value: object) -> bytes:
    try:
        return orjson.dumps(value, default=str)
    except TypeError:  # of too many levels
        return b"an object of more than 254 levels"


def count(value: object) -> int:
    """A token count: whole, neither negative nor absurd; a number in a string counts, anything else is 0."""
    if value is None:  # as in most of the places where servers tell one
        return 0
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 16:
        return int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return 0
    return value if 0 <= value < _NO_COUNT else 0


def index_or_none(value: object) -> int | None:
    """A place in a list, which may be given as text; None for anything else."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def text_or_none(value: object, what: str) -> str | None:
    """A string or None. Raises ProviderInvalidOutput naming `what` for another type."""
    if value is None or isinstance(value, str):
        return value
    raise unusable(f"{what} that is not text")


def member(value: object, name: str) -> Any:
    """`value[name]`, if `value` is an object that has it; None otherwise."""
    return value.get(name) if is_object(value) else None


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
    error = _error_of(body)
    kinds = [kind for one in (error, body) for kind in _kinds(one)]
    if status is None:
        status = next((found for kind in kinds if (found := _status(kind))), None)
    message, names = _message(error), _names(error) if error is body else _names(error, body)
    if status is None:
        return FailedAnswer(message, names=names)
    is_quota = not _QUOTA_KINDS.isdisjoint(kinds)
    return refusal(status, message, quota=is_quota, retry_after_s=retry_after_s, names=names)


def _error_of(body: object) -> object:
    """The part of a body that describes the error; the body itself where a member only says that there is one."""
    for name in ("error", "errors", "detail", "fault"):
        inner = member(body, name)
        inner = inner[0] if isinstance(inner, list) and len(inner) == 1 else inner
        if inner and (isinstance(inner, Mapping) or (name == "error" and isinstance(inner, str | list))):
            return inner if not isinstance(inner, str) else _with_message(inner, body)
    return body


def _with_message(error: str, body: object) -> str:
    """An error in words, with the message beside it, which often says what was wrong."""
    said = next((text for name in ("message", "msg", "detail") if isinstance(text := member(body, name), str)), "")
    return f"{error}: {said}" if said and said not in error else error


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
    return FailedAnswer("The model's stream ended before its answer was complete.")


def _names(*errors: object) -> UpstreamNames:
    """The names in error objects that are short and of plain characters, the first of each; others are left out."""
    found: dict[str, str] = {}
    for name in ("code", "type", "param"):
        given = (member(error, name) for error in errors)
        named = next((text for text in given if isinstance(text, str) and _NAME.fullmatch(text)), None)
        found |= {} if named is None else {name: named}
    return UpstreamNames(**found)


def _kinds(error: object) -> list[str]:
    named = (member(error, name) for name in _KINDS)
    return [str(kind).lower() for kind in named if isinstance(kind, str | int) and not isinstance(kind, bool)]


def _status(kind: str) -> int | None:
    if kind.isascii() and kind.isdigit() and len(kind) == 3 and int(kind) >= 400:
        return int(kind)
    return _STATUS_OF_KIND.get(kind)


def _message(error: object) -> str:
    """The server's own message; the whole object as text when it has none."""
    said = _words(error, _DEEPEST_WORDS) or _json_of(error).decode("utf-8", "replace")
    raw = member(member(error, "metadata"), "raw")  # what the server behind a router said, whose own words say little
    if isinstance(raw, str) and raw and raw not in said:
        said = f"{said}: {raw}"
    return said[:MOST_MESSAGE_CHARACTERS]


def _words(error: object, depth: int) -> str:
    """The text of an error, which may lie in an object or a list within it; "" where there is none."""
    if isinstance(error, str) or not depth:
        return error if isinstance(error, str) else ""
    if isinstance(error, list):
        return "; ".join(words for one in error[:8] if (words := _words(one, depth - 1)))
    if not isinstance(error, Mapping):
        return ""
    inner = (error.get(name) for name in _WORDS)
    said = next((words for one in inner if (words := _words(one, depth - 1))), "")
    where = error.get("loc")
    return f"{'.'.join(map(str, where))}: {said}" if said and isinstance(where, list) else said
