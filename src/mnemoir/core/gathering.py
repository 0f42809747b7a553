"""Joining the events of a stream into one reply."""

from collections.abc import Mapping, Sequence
from typing import Any

from mnemoir.core.errors import ProviderUnavailable
from mnemoir.core.events import (
    Alternative,
    Event,
    Finished,
    Passed,
    Refusal,
    Reply,
    Text,
    Thinking,
    ToolCallPart,
    Usage,
)
from mnemoir.core.messages import ToolCall


class Gathering:
    """Collects batches of events and joins them into a Reply."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._refusal: list[str] = []
        self._calls: dict[int, list[ToolCallPart]] = {}
        self._passed: Passed | None = None
        self._alternatives: list[Mapping[str, Any]] = []
        self._usage = Usage()
        self._finished: Finished | None = None

    def take(self, batch: Sequence[Event]) -> bool:
        """Add a batch. True when any of its events is part of the answer."""
        return sum(map(self._take, batch)) > 0  # not `any`: every event must be taken

    def reply(self) -> Reply:
        """The complete answer. Raises ProviderUnavailable when no Finished was taken."""
        if self._finished is None:
            raise ProviderUnavailable("The model's answer ended before it was complete. Ask again.")
        return self.so_far()

    @property
    def is_finished(self) -> bool:
        """True when the answer is complete."""
        return self._finished is not None

    def so_far(self) -> Reply:
        """The answer received so far, complete or not."""
        return Reply(
            text="".join(self._text),
            reason=self._finished.reason if self._finished else "stop",
            tool_calls=[_joined(index, pieces) for index, pieces in sorted(self._calls.items())],
            thinking="".join(self._thinking),
            refusal="".join(self._refusal),
            usage=self._usage,
            passed=self._passed,
            alternatives=tuple(self._alternatives),
        )

    def _take(self, event: Event) -> bool:
        match event:
            case Text():
                self._text.append(event.text)
            case Thinking():
                self._thinking.append(event.text)
            case Refusal():
                self._refusal.append(event.text)
            case ToolCallPart():
                self._calls.setdefault(event.index, []).append(event)
            case Usage():
                self._usage = self._usage + event
            case Finished():
                self._finished = event
            case Passed():
                self._passed = event  # a whole answer has one; of a stream only the newest is kept
            case Alternative():
                self._alternatives.append(event.choice)
            case _:
                return False
        return True


def _joined(index: int, pieces: Sequence[ToolCallPart]) -> ToolCall:
    return ToolCall(
        id=next((piece.id for piece in pieces if piece.id), f"call_{index}"),
        name=next((piece.name for piece in pieces if piece.name), ""),
        arguments="".join(piece.arguments for piece in pieces),
        custom=any(piece.custom for piece in pieces),
        extra=next((piece.extra for piece in pieces if piece.extra), None),
    )
