"""Recall: put what memory knows about the message in front of it, fenced.

What was said a moment ago may not be a memory yet: its turn is written down and waits to be looked into. Such turns
of the user are recalled as they were said, so that a new chat knows how the last one ended, also after a crash.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import replace

from mnemoir.core.errors import MnemoirError
from mnemoir.core.events import Event, MemoriesRecalled
from mnemoir.core.fence import RecalledLine, put_up, take_down
from mnemoir.core.messages import ImagePart, Message, Part, TextPart
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_service import ChatTurn, MemoryService
from mnemoir.workflows.run import Run, last_user_message

# how many memories the project of a scope lets into a prompt; None when it has switched memory off
Allowance = Callable[[Scope], Awaitable[int | None]]
# turns of the user that no memory has been derived from yet, oldest first
Waiting = Callable[[Scope], Awaitable[Sequence[ChatTurn]]]

_MOST_SHOWN = 500  # characters of a turn that waits


class Recall:
    """Changes only the last user message, so that all before it stays the same from turn to turn."""

    def __init__(self, service: MemoryService, allowance: Allowance, waiting: Waiting) -> None:
        self._service = service
        self._allowance = allowance
        self._waiting = waiting

    def applies(self, run: Run) -> bool:
        """When memory is on and the user said something."""
        return run.caller.uses_memory and bool(run.user_text)

    async def run(self, run: Run) -> AsyncGenerator[Sequence[Event], None]:
        """Yields MemoriesRecalled, also when memory could not be reached: a chat never fails for its memory."""
        caller = run.caller
        try:
            limit = await self._allowance(caller.scope)
            if limit is None:
                yield [MemoriesRecalled(count=0, degraded="memory is switched off for this project")]
                return
            found = await self._service.search(caller.scope, run.user_text, limit=limit, credential=caller.credential)
        except MnemoirError as exc:
            yield [MemoriesRecalled(count=0, degraded=exc.message)]
            raise  # the engine reports it and goes on
        lines = [*found.lines, *_said(await self._waiting(caller.scope), run)]
        run.request = replace(run.request, messages=with_recalled(run.request.messages, lines))
        yield [MemoriesRecalled(count=len(lines), degraded=found.degraded)]


def _said(turns: Sequence[ChatTurn], run: Run) -> list[RecalledLine]:
    """The turns as lines, without those that are in this very conversation."""
    present = {take_down(message.text).strip() for message in run.chat.request.messages if message.role == "user"}
    return [
        RecalledLine(text=f"Said: {turn.user_text[:_MOST_SHOWN]}", day=turn.said_at[:10])
        for turn in turns
        if turn.user_text not in present
    ]


def with_recalled(messages: Sequence[Message], lines: Sequence[RecalledLine]) -> Sequence[Message]:
    """The messages with the fenced lines in front of the last user message; the very same ones without lines."""
    place = last_user_message(messages)
    if place is None or not lines:
        return messages
    asked = messages[place]
    images = [part for part in asked.parts if isinstance(part, ImagePart)]
    parts: Sequence[Part] = (TextPart(text=put_up(lines, asked.text)), *images)
    return [*messages[:place], replace(asked, parts=parts), *messages[place + 1 :]]
