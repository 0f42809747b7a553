"""The shapes in which models' servers put an error into an answer, or send one in its place.

Each protocol has an error of its own, but what stands before a server, such as a proxy, a gateway or a framework,
adds others. They are the same for all protocols.
"""

import re
from collections.abc import Mapping
from typing import Any

from mnemoir.wire import upstream
from mnemoir.wire.members import Json

OF_BEHIND = "x_groq"
"""An object with members of the server behind the protocol, which may hold the error that a stream broke off with."""
_WELL = frozenset({0, 200, "0", "200", "ok", "success"})
_CODES = ("code", "status", "status_code", "statusCode", "error_code", "errorCode")
_WORDS = (
    *("message", "msg", "detail", "error_msg", "errorMessage", "error_message", "Message", "fault"),
    *("err", "errmsg", "errMsg", "error_description", "exception"),
)
_DETAILS = ("detail", "fault")
_STATUS_OF_BASE = "base_resp"
"""An object with a status, which is not 0 for an error, beside the answer or in its place."""
_PLACES = frozenset(
    {
        *("content", "text", "response", "output_text", "delta", "token", "tok", "parts", "output"),
        *("results", "candidates", "choice", "choices", "messages"),
        *("generated_text", "completion", "answer", "reply"),
    }
)
"""Members in which servers of any protocol put the words of an answer."""
_WRAPPERS = frozenset({"data", "result", "body", "payload", "response", "output", "completion"})
"""Members in which gateways put a whole answer."""
_HOLDERS = _PLACES | {"message", "value", "refusal", "markdown", "html"}
"""Members of parts and items in which words stand."""
_WITHOUT_WORDS = re.compile(
    r"mcp_|compaction|item_reference|.*(?:_call|_output|_results?|tool_use|citations?|references?|sources?|annotations?)$"
)
"""Types of items and parts about what the server did or read: what stands in them are not the model's words."""
_DEEPEST = 5  # a list of parts in the content of a message within a part
_ERROR_CODES = ("error_code", "errorCode")
_ERROR_WORDS = tuple(name for name in _WORDS if "err" in name or name in ("fault", "exception"))
_BESIDE = frozenset({*_CODES, *_WORDS, *_ERROR_CODES, "success", "status"})  # nearly no answer has any of them
_FAILED = frozenset(
    {"error", "errored", "fail", "failed", "failure", "cancelled", "canceled", "aborted", "timeout", "expired"}
)
"""Values of `status` that tell of an error."""
_TOLD = frozenset({"error", "errors", OF_BEHIND, _STATUS_OF_BASE})


def raise_error_of(*holders: object) -> None:
    """Raise the error that one of these objects holds: an object of an answer, its choice, its message.

    The shapes: `error`, a list of `errors`, that of a server behind, `object: "error"`, and a status that is not 0.
    None of them counts where it is null or empty.
    """
    for holder in holders:
        if not isinstance(holder, dict):
            continue
        if holder.get("object") == "error":
            raise upstream.error_in_body(holder)
        if _TOLD.isdisjoint(holder):
            continue
        if is_error(holder.get("error")):
            raise upstream.error_in_body(holder)
        errors, behind = holder.get("errors"), holder.get(OF_BEHIND)
        if errors and isinstance(errors, list):
            raise upstream.error_in_body(holder)
        if upstream.member(behind, "error"):
            raise upstream.error_in_body(behind)
        base = holder.get(_STATUS_OF_BASE)
        if isinstance(base, Mapping) and base.get("status_code"):
            raise upstream.error_in_body({"message": base.get("status_msg"), "code": base["status_code"]})


def is_error(value: object) -> bool:
    """True for an `error` that is one: not null or empty, and no object that says nothing or that all is well."""
    if isinstance(value, Mapping):
        return any(is_error(inner) and not _is_well(inner) for inner in value.values())
    return bool(value)


def raise_error_beside(body: Json) -> None:
    """Raise the error that an object with an answer holds: also one of a code, a status or a `success` of false."""
    raise_error_of(body)
    if _BESIDE.isdisjoint(body) or _says_well(body):
        return
    codes = [body[name] for name in _CODES if body.get(name)]
    has_words = any(_are_words(name, body.get(name)) and not _is_well(body[name]) for name in _WORDS)
    if (
        body.get("success") is False
        or any(map(_is_refusal, codes))
        or any(type(code) is int and has_words for code in codes)
        or any(body.get(name) for name in _ERROR_CODES)
        or any(_are_words(name, body.get(name)) and not _is_well(body[name]) for name in _ERROR_WORDS)
        or (isinstance(status := body.get("status"), str) and status.lower() in _FAILED)
    ):
        raise upstream.error_in_body(body)


def raise_error_in_place(body: Json) -> None:
    """Raise the error that an object without an answer is: also one with nothing but words, such as a `detail`."""
    raise_error_of(body)
    if any(_is_refusal(body.get(name)) for name in _CODES):
        raise upstream.error_in_body(body)
    if not _says_well(body) and any(_are_words(name, body.get(name)) for name in _WORDS):
        raise upstream.error_in_body(body)
    raise_lost_words(body)


def raise_lost_words(*holders: Json | None) -> None:
    """Raise ProviderInvalidOutput where one of these objects, of which nothing was read, has words of an answer."""
    for holder in holders:
        if holder is not None and upstream.member(holder.get("message"), "content"):
            raise upstream.no_answer("a message of another protocol", holder)
        place = _place_of_words(holder) if holder is not None else None
        if place:
            raise upstream.no_answer(f"words in a place that is not known, {place!r}", holder or {})


def raise_words_beside(*holders: Json | None) -> None:
    """Raise ProviderInvalidOutput where an object with an empty answer has words beside it."""
    for holder in holders:
        name = words_beside(holder)
        if name is not None:
            raise upstream.no_answer(f"an empty text and words in a place that is not known, {name!r}", holder or {})


def words_beside(holder: Json | None) -> str | None:
    """The member of an object in which there are words; None where there is none."""
    names = sorted((_PLACES | _WRAPPERS).intersection(holder or ()))
    return next((name for name in names if holder and _has_words_at(holder, name, _DEEPEST)), None)


def raise_words_in(part: object, kind: str, what: str) -> None:
    """Raise ProviderInvalidOutput for an item or a part, of a type that is not known, with words."""
    if not _WITHOUT_WORDS.match(kind) and _has_words(part, _DEEPEST):
        raise upstream.no_answer(f"words in {what} of the type {kind[:40]!r}, which is not known", {"part": part})


def _has_words(value: object, depth: int) -> bool:
    """True for a text, and for an object or a list with one in a place of words."""
    if isinstance(value, str):
        return bool(value.strip())
    if isinstance(value, list) and depth:
        return any(_has_words(inner, depth - 1) for inner in value)
    if isinstance(value, Mapping) and depth:
        return any(_has_words(value[name], depth - 1) for name in _HOLDERS.intersection(value))
    return False


def _has_words_at(holder: Json, name: str, depth: int) -> bool:
    """True for words in a member; a bare text in a wrapping may be anything."""
    value = holder[name]
    return (name in _PLACES or not isinstance(value, str)) and _has_words(value, depth)


def _place_of_words(holder: Json) -> str | None:
    """The member with words of an answer, or with an answer in a wrapping; None where there is none."""
    wrapped = ((name, holder[name]) for name in sorted(_WRAPPERS.intersection(holder)))
    firsts = ((name, value[0] if isinstance(value, list) and value else value) for name, value in wrapped)
    return _word_member(holder) or next((name for name, inner in firsts if _holds_answer(inner)), None)


def _holds_answer(value: object) -> bool:
    if not isinstance(value, Mapping):
        return False
    return bool(upstream.member(value.get("message"), "content")) or _word_member(value) is not None


def _word_member(holder: Json) -> str | None:
    names = (name for name in sorted(_PLACES.intersection(holder)) if holder[name])
    return next((name for name in names if isinstance(holder[name], str | list | Mapping)), None)


def _says_well(body: Json) -> bool:
    """True where the words beside say that all is well."""
    return any(_is_well(body.get(name)) for name in _CODES) or body.get("success") is True


def _is_refusal(code: Any) -> bool:
    """True for a status of HTTP that says no."""
    return isinstance(code, int) and not isinstance(code, bool) and 400 <= code < 600


def _is_well(code: Any) -> bool:
    if isinstance(code, bool) or not isinstance(code, int | str):
        return False
    return (code.lower() if isinstance(code, str) else code) in _WELL


def _are_words(name: str, value: object) -> bool:
    """True for a text, and for the details of a framework or gateway, which may be a list or an object."""
    return bool(value) and (isinstance(value, str) or (name in _DETAILS and isinstance(value, list | Mapping)))
