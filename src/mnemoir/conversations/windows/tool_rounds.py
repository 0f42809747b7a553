"""Tool rounds: the assignment of tool results to tool calls.

Models reuse ids ("call_0" in every round), so a result belongs to the nearest message before it that has its call id.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


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
