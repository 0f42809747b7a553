"""Validation of histories by the rules of model servers, and completion of open tool calls.

A tool result is assigned to the tool call that it answers. Models reuse ids ("call_0" in every round), so a result
belongs to the nearest message before it that has its call id.

Providers refuse a history that begins with a tool result or contains a call without a result, often one turn after
the mistake.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from mnemoir.core.conversations import Message
from mnemoir.core.errors import MnemoirError

INTERRUPTED = "[INTERRUPTED]"
SUMMARY_PREFIX = "Previous context: "

Beginning = Literal["user", "any"]


class AnyToolCall(Protocol):
    """A tool call, of a stored message or of one that is sent to a model."""

    @property
    def id(self) -> str: ...

    @property
    def name(self) -> str: ...


class AnyMessage(Protocol):
    """The members of a message, stored or sent to a model, that determine where a history may be cut."""

    @property
    def role(self) -> str: ...

    @property
    def tool_calls(self) -> Sequence[AnyToolCall] | None: ...

    @property
    def tool_call_id(self) -> str | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredCall:
    """The call that a tool result answers: the index of the calling message, and the call's id."""

    caller: int
    call_id: str


def match_results(messages: Sequence[AnyMessage]) -> dict[int, AnsweredCall]:
    """The answered call of each tool result, by the result's index.

    A result without an id answers the first open call of the latest calling message. Results of unknown calls and
    second results for one call are left out.
    """
    matches: dict[int, AnsweredCall] = {}
    asked: dict[str, AnsweredCall] = {}  # by call id, of the latest message with that call
    waiting: dict[AnsweredCall, None] = {}  # open calls of the latest calling message
    taken: set[AnsweredCall] = set()
    for at, message in enumerate(messages):
        if calls := asked_calls(message):
            waiting = {AnsweredCall(caller=at, call_id=call.id): None for call in calls}
            asked.update((call.call_id, call) for call in waiting)
        if message.role != "tool":
            continue
        answered = asked.get(message.tool_call_id) if message.tool_call_id else next(iter(waiting), None)
        if answered is not None and answered not in taken:
            matches[at] = answered
            taken.add(answered)
            waiting.pop(answered, None)
    return matches


def asked_calls(message: AnyMessage) -> Sequence[AnyToolCall]:
    """The tool calls of an assistant message; () for any other role."""
    return message.tool_calls or () if message.role == "assistant" else ()


class InvalidHistory(MnemoirError):
    """A provider would refuse this history; the error names the message and the reason."""

    code = "invalid_history"


def assert_valid_history(messages: Sequence[Message], *, begins: Beginning = "user", sent: bool = False) -> None:
    """Raise InvalidHistory for a history that providers refuse; an empty one is valid.

    Each call has one result, and the results directly follow the calling message. The first message after system
    messages is a user's, or an assistant's after a summary (a system message that begins with `SUMMARY_PREFIX`);
    with `begins="any"`, for whole threads and windows cut between single messages, also an assistant's. With `sent`,
    for a history that is sent now, the last message is a user's or a tool result.
    """
    _check_tool_rounds(messages)
    if begins == "user":
        _check_beginning(messages)
    if sent and messages and messages[-1].role not in ("user", "tool"):
        last = len(messages) - 1
        raise _invalid(messages, last, "a history that is sent ends with a user message or a tool result")


def close_open_calls(messages: Sequence[Message]) -> list[Message]:
    """The messages with a result for every tool call; the given messages are not changed.

    Results are moved directly after their call, a missing result becomes `[INTERRUPTED]` (the process ended between
    the two), and results of unknown calls and second results are left out. Call this before `fit`, so that added
    results are counted.
    """
    return [message for _, message in closed_calls(messages)]


def closed_calls(messages: Sequence[Message]) -> Iterator[tuple[int | None, Message]]:
    """The messages of `close_open_calls`, each with its index among the given ones; None for an added result."""
    answers = {answered: at for at, answered in match_results(messages).items()}
    for at, message in enumerate(messages):
        if message.role != "tool":
            yield at, message
            yield from _results(messages, at, answers)


def _results(
    messages: Sequence[Message], caller: int, answers: dict[AnsweredCall, int]
) -> Iterator[tuple[int | None, Message]]:
    """A result for each call of a message: existing ones in their order, then added ones."""
    calls = {AnsweredCall(caller=caller, call_id=call.id): call for call in asked_calls(messages[caller])}
    for answered in sorted((call for call in calls if call in answers), key=answers.__getitem__):
        at = answers[answered]
        result = messages[at]
        named = result.tool_call_id == answered.call_id
        yield at, result if named else replace(result, tool_call_id=answered.call_id)
    for answered, call in calls.items():
        if answered not in answers:
            yield None, Message("tool", INTERRUPTED, tool_call_id=call.id, name=call.name)


def _check_tool_rounds(messages: Sequence[Message]) -> None:
    matches = match_results(messages)
    answers = Counter(answered.caller for answered in matches.values())
    speaker = -1  # index of the latest message that is not a result
    for at, message in enumerate(messages):
        if message.role == "tool":
            _check_result(messages, at, matches.get(at), speaker)
        else:
            speaker = at
        missing = len({call.id for call in asked_calls(message)}) - answers[at]
        if missing:
            raise _invalid(messages, at, f"{missing} of its calls have no result; close_open_calls adds them")


def _check_result(messages: Sequence[Message], at: int, answered: AnsweredCall | None, speaker: int) -> None:
    if answered is None:
        raise _invalid(messages, at, "no call before it is open for this result; begin the window at a turn")
    if not messages[at].tool_call_id:
        raise _invalid(messages, at, "a tool result needs the id of its call; close_open_calls adds it")
    if answered.caller != speaker:
        raise _invalid(messages, at, "other messages stand between a call and this result; close_open_calls moves it")


def _check_beginning(messages: Sequence[Message]) -> None:
    first = next((at for at, message in enumerate(messages) if message.role != "system"), None)
    if first is None or messages[first].role == "user":
        return
    if not (messages[first].role == "assistant" and _has_summary(messages[:first])):
        raise _invalid(messages, first, "a history begins with a user message, or with a summary")


def _has_summary(messages: Sequence[Message]) -> bool:
    return any(message.text.startswith(SUMMARY_PREFIX) for message in messages)


def _invalid(messages: Sequence[Message], at: int, reason: str) -> InvalidHistory:
    return InvalidHistory(f"Message {at + 1} of {len(messages)} ({messages[at].role}): {reason}.")
