"""Recall: puts fenced memories relevant to the user's message in front of it.

Recent turns may still be queued for the extraction of facts. They are recalled word for word, so that a new chat
knows the end of the last one, also after a crash.
"""

from collections.abc import AsyncGenerator, Sequence

import structlog

from mnemoir.core.errors import MnemoirError
from mnemoir.core.events import Event, MemoriesRecalled, MemorySkipped
from mnemoir.core.messages import Message, with_text_in_front
from mnemoir.core.runs import RecalledMemory
from mnemoir.core.text import RecalledLine, put_up
from mnemoir.ports.memory_service import ChatTurn
from mnemoir.wire.app_prompts import typed_text
from mnemoir.workflows.node import Node, NodeProperties
from mnemoir.workflows.run import Turn, last_user_message
from mnemoir.workflows.step import Step

_log = structlog.get_logger(__name__)
_MOST_SHOWN = 500  # characters of a queued turn, or of one that was said before
_MOST_BEFORE = 4  # messages: two turns


class Recall(Node[NodeProperties]):
    """Adds memories to the last user message only, so that the messages before it are the same from turn to turn.

    Its output are the recalled memories, one per line; "" for none.
    """

    kind = "Recall"

    def applies(self, turn: Turn) -> bool:
        """True when memory is on and the user message has a text."""
        return turn.caller.recalls and bool(turn.user_text)

    async def run(self, step: Step) -> AsyncGenerator[Sequence[Event], None]:
        """Yield MemoriesRecalled, also when memory could not be reached: a failure of memory never fails a chat."""
        step.output = ""
        try:
            lines, degraded = await self._recalled_lines(step.run.turn)
        except MnemoirError as exc:
            step.trace.error = exc.message
            _log.warning("memory could not be asked", node=step.definition.title, code=exc.code)
            _log.debug("memory could not be asked", error=exc.message)  # debug only: it may quote messages
            yield [MemoriesRecalled(count=0, degraded=exc.message, is_failed=True)]
            return
        turn = step.run.turn
        turn.messages[:] = with_recalled_lines(turn.messages, lines)
        step.trace.memories = [
            RecalledMemory(text=line.text_with_origin, id=line.id, fits=line.fits) for line in lines
        ]
        step.output = "\n".join(line.text_with_origin for line in lines)
        skipped = [MemorySkipped(reason="off")] if turn.trace.memory_skipped == "off" else []
        yield [*skipped, MemoriesRecalled(count=len(lines), degraded=degraded)]

    async def _recalled_lines(self, turn: Turn) -> tuple[list[RecalledLine], str]:
        memory, caller = self.services.memory, turn.caller
        limits = await memory.allowance(caller.scope)
        if limits is None:
            turn.trace.memory_skipped = turn.trace.memory_skipped or "off"
            return [], "memory is switched off for this project"
        found = await memory.service.search(
            caller.scope,
            turn.user_text,
            limits=limits,
            credential=caller.credential,
            before=_before(turn.chat.request.messages),
        )
        return [*found.lines, *_lines_of_turns(await memory.waiting(caller.scope), turn)], found.degraded


def _before(messages: Sequence[Message]) -> list[str]:
    """What was said in the turns before the user's last message, cut to what can name a person there."""
    place = last_user_message(messages) or 0
    said = [message.text for message in messages[:place] if message.role in ("user", "assistant")]
    return [text[:_MOST_SHOWN] for text in said[-_MOST_BEFORE:]]


def _lines_of_turns(turns: Sequence[ChatTurn], turn: Turn) -> list[RecalledLine]:
    """The turns as lines, without those of this conversation."""
    sent = turn.chat.request.messages
    present = {typed_text(message.text) for message in sent if message.role == "user"}
    return [
        RecalledLine(text=f"Said: {waiting.user_text[:_MOST_SHOWN]}", day=waiting.said_at[:10])
        for waiting in turns
        if waiting.user_text not in present
    ]


def with_recalled_lines(messages: Sequence[Message], lines: Sequence[RecalledLine]) -> Sequence[Message]:
    """The messages with the fenced lines in front of the last user message; the same object for no lines."""
    place = last_user_message(messages)
    if place is None or not lines:
        return messages
    return [*messages[:place], with_text_in_front(messages[place], put_up(lines, "")), *messages[place + 1 :]]
