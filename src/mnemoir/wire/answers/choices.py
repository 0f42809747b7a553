"""The choices of an answer in OpenAI's protocols: their order, their indexes, and what stands beside their words."""

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from mnemoir.wire import upstream
from mnemoir.wire.answers.error_shapes import OF_BEHIND, raise_error_beside, raise_error_in_place
from mnemoir.wire.members import Json

OTHER_REASON = "finishReason"
NATIVE_REASON = "native_finish_reason"  # of the server behind a router


def read_choices_of(body: Json) -> list[Any]:
    """The choices of a whole answer by their indexes. Raises the error that it is, or ProviderInvalidOutput."""
    choices = body.get("choices")
    if choices:
        raise_error_beside(body)
    else:
        raise_error_in_place(body)
    if not isinstance(choices, list) or not choices:
        raise upstream.no_answer("no choices", body)
    return by_index(choices)


def reason_of(choice: Json) -> object:
    """The server's value for the end of a choice."""
    return choice.get("finish_reason") or choice.get(OTHER_REASON)


def with_reason(choice: Json) -> Json:
    """A choice beside the answer; one without a reason of its end has stopped, as the answer would have."""
    return choice if choice.get("finish_reason") else {**choice, "finish_reason": reason_of(choice) or "stop"}


def by_index(choices: Sequence[object]) -> list[dict[str, Any]]:
    """Choices in the order of their indexes; one without an index has that of its place. Raises for no objects."""
    if len(choices) == 1 and choices[0].__class__ is dict and choices[0].get("index") == 0:  # nearly every answer
        return [choices[0]]
    choices = _join_calls(choices)
    placed: list[tuple[int, dict[str, Any]]] = []
    for n, choice in enumerate(choices):
        if not isinstance(choice, dict):
            raise upstream.unusable("a choice that is not an object")
        index = upstream.index_or_none(choice.get("index"))
        placed.append((n, {**choice, "index": n}) if index is None else (index, choice))
    return [choice for _, choice in sorted(placed, key=itemgetter(0))]


def _join_calls(choices: Sequence[object]) -> Sequence[object]:
    """One choice in place of several without indexes of their own that call tools, as of GitHub's Copilot.

    It puts the text and each call of one answer into choices of their own.
    """
    if len(choices) < 2:
        return choices
    said: list[dict[str, Any]] = []
    for choice in choices:
        if not isinstance(choice, dict) or choice.get("index") or reason_of(choice) != "tool_calls":
            return choices
        message = choice.get("message") or choice.get("delta")
        if not isinstance(message, dict):
            return choices
        said.append(message)
    texts = [message["content"] for message in said if message.get("content")]
    calls = [message.get("tool_calls") or [] for message in said]
    if len(texts) > 1 or not all(isinstance(some, list) for some in calls):
        return choices
    whole = {name: value for message in reversed(said) for name, value in message.items()}
    whole |= {"content": texts[0] if texts else None, "tool_calls": [call for some in calls for call in some]}
    first = choices[0]
    assert isinstance(first, dict)
    return [{**first, "index": 0, "message" if first.get("message") else "delta": whole}]


def index_of(choice: Json) -> int:
    """The index of a choice; 0 for one without."""
    return upstream.index_or_none(choice.get("index")) or 0


def says(choice: Json) -> bool:
    """True for a choice that holds more than a role and a reason of its end."""
    said = choice.get("delta") or choice.get("message")
    words = {**said, "role": None} if isinstance(said, dict) else {}
    return bool(choice.get("text")) or any(words.values())


def usage_behind(body: Json) -> Json | None:
    """The counts of a server behind the protocol, or those of the first choice, where the answer itself has none."""
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    counts = (upstream.member(holder, "usage") for holder in (body.get(OF_BEHIND), first))
    return next((usage for usage in counts if isinstance(usage, dict) and not body.get("usage")), None)
