"""Recall: put what memory knows about the message in front of it, fenced."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import replace

from mnemoir.core.errors import MnemoirError
from mnemoir.core.events import Event, MemoriesRecalled
from mnemoir.core.fence import RecalledLine, put_up
from mnemoir.core.messages import ImagePart, Message, Part, TextPart
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_service import MemoryService
from mnemoir.workflows.run import Run, last_user_message

# how many memories the project of a scope lets into a prompt; None when it has switched memory off
Allowance = Callable[[Scope], Awaitable[int | None]]


class Recall:
    """Changes only the last user message, so that all before it stays the same from turn to turn."""

    def __init__(self, service: MemoryService, allowance: Allowance) -> None:
        self._service = service
        self._allowance = allowance

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
        run.request = replace(run.request, messages=with_recalled(run.request.messages, found.lines))
        yield [MemoriesRecalled(count=len(found.lines), degraded=found.degraded)]


def with_recalled(messages: Sequence[Message], lines: Sequence[RecalledLine]) -> Sequence[Message]:
    """The messages with the fenced lines in front of the last user message; the very same ones without lines."""
    place = last_user_message(messages)
    if place is None or not lines:
        return messages
    asked = messages[place]
    images = [part for part in asked.parts if isinstance(part, ImagePart)]
    parts: Sequence[Part] = (TextPart(text=put_up(lines, asked.text)), *images)
    return [*messages[:place], replace(asked, parts=parts), *messages[place + 1 :]]
