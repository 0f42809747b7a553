"""Validation of histories by the rules of model servers, and completion of open tool calls.

Providers refuse a history that begins with a tool result or contains a call without a result, often one turn after
the mistake.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from mnemoir.conversations.windows.tool_rounds import AnsweredCall, asked_calls, match_results
from mnemoir.core.conversations import Message
from mnemoir.core.errors import MnemoirError

INTERRUPTED = "[INTERRUPTED]"
SUMMARY_PREFIX = "Previous context: "

Beginning = Literal["user", "any"]


class InvalidHistory(MnemoirError):
    """A provider would refuse this history; the error names the message and the reason."""

    code = "invalid_history"


def assert_valid_history(messages: Sequence[Message], *, begins: Beginning = "user", sent: bool = False) -> None:
    """Raise InvalidHistory for a history that providers refuse; an empty one is valid.

    Each call has one result, and the results directly follow the calling message. The first message after system
    messages is a user's, or an assistant's after a summary (a system message that begins with `SUMMARY_PREFIX`);
    with `begins="any"`, for windows cut between single messages, also an assistant's without a summary. With `sent`,
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
