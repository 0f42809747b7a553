"""Tool rounds: which tool result answers which call.

Models reuse ids ("call_0" in every round), so a result belongs to the nearest message before it that asks for its id.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


class AnyToolCall(Protocol):
    """A call of a tool, of a stored message or of one on its way to a model."""

    @property
    def id(self) -> str: ...

    @property
    def name(self) -> str: ...


class AnyMessage(Protocol):
    """What of a message, stored or on its way to a model, tells where a history may be cut."""

    @property
    def role(self) -> str: ...

    @property
    def tool_calls(self) -> Sequence[AnyToolCall] | None: ...

    @property
    def tool_call_id(self) -> str | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The call that a tool result answers: the index of the message that asks, and the call's id."""

    caller: int
    call_id: str


def match_results(messages: Sequence[AnyMessage]) -> dict[int, Answered]:
    """The index of each tool result, with what it answers.

    A result without an id answers the first open call of the latest message that calls. Results that nothing asked
    for, and second results for one call, are not in it.
    """
    matches: dict[int, Answered] = {}
    asked: dict[str, Answered] = {}  # by call id, of the latest message that asks for it
    waiting: dict[Answered, None] = {}  # open calls of the latest message that calls
    taken: set[Answered] = set()
    for at, message in enumerate(messages):
        if calls := asked_calls(message):
            waiting = {Answered(caller=at, call_id=call.id): None for call in calls}
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
    """The calls that an assistant message asks for; none for any other role."""
    return message.tool_calls or () if message.role == "assistant" else ()
