"""What a model's server accepts as a history, checked on every window, and open calls closed.

A history that begins with a tool result, or keeps a call without its result, is refused by providers, often one turn
later than the mistake was made.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from mnemoir.conversations.windows.tool_rounds import Answered, asked_calls, match_results
from mnemoir.core.conversation_messages import Message
from mnemoir.core.errors import MnemoirError

INTERRUPTED = "[INTERRUPTED]"
SUMMARY_PREFIX = "Previous context: "

Beginning = Literal["user", "any"]


class InvalidHistory(MnemoirError):
    """A provider would refuse this history; the message names the place and the reason."""

    code = "invalid_history"


def assert_valid_history(messages: Sequence[Message], *, begins: Beginning = "user", sent: bool = False) -> None:
    """Raise InvalidHistory for a history that providers refuse; an empty one is valid.

    Each call has one result, and the results stand directly behind the message that calls. The first message behind
    system messages is a user's, or an assistant's where a summary (a system message that begins with
    `SUMMARY_PREFIX`) stands in front of it; with `begins="any"`, for windows that are cut between single messages, an
    assistant's without a summary too. With `sent`, what goes to the model now, the last one is a user's or a result.
    """
    _check_tool_rounds(messages)
    if begins == "user":
        _check_beginning(messages)
    if sent and messages and messages[-1].role not in ("user", "tool"):
        last = len(messages) - 1
        raise _invalid(messages, last, "a history that is sent ends with a user message or a tool result")


def close_open_calls(messages: Sequence[Message]) -> list[Message]:
    """The messages with every call answered, as they are to be loaded; none of those given is changed.

    Results are moved directly behind their call, a missing one is made up as `[INTERRUPTED]` (the process ended
    between the two), and results that nothing in the list asks for, or that come a second time, are left out. Do this
    before `fit`, so that what is made up is counted.
    """
    return [message for _, message in closed_calls(messages)]


def closed_calls(messages: Sequence[Message]) -> Iterator[tuple[int | None, Message]]:
    """The messages of `close_open_calls`, each with its index among those given; None for one that is made up."""
    answers = {answered: at for at, answered in match_results(messages).items()}
    for at, message in enumerate(messages):
        if message.role != "tool":
            yield at, message
            yield from _results(messages, at, answers)


def _results(
    messages: Sequence[Message], caller: int, answers: dict[Answered, int]
) -> Iterator[tuple[int | None, Message]]:
    """A result for each call of a message: in the order they were stored, then those that are made up."""
    calls = {Answered(caller=caller, call_id=call.id): call for call in asked_calls(messages[caller])}
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
    speaker = -1  # the latest message that is no result
    for at, message in enumerate(messages):
        if message.role == "tool":
            _check_result(messages, at, matches.get(at), speaker)
        else:
            speaker = at
        missing = len({call.id for call in asked_calls(message)}) - answers[at]
        if missing:
            raise _invalid(messages, at, f"{missing} of its calls have no result; close_open_calls adds them")


def _check_result(messages: Sequence[Message], at: int, answered: Answered | None, speaker: int) -> None:
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
