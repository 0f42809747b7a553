"""Recall: puts fenced memories relevant to the user's message in front of it.

Recent turns may still be queued for the extraction of facts. They are recalled word for word, so that a new chat
knows the end of the last one, also after a crash.
"""

from collections.abc import AsyncGenerator, Collection, Sequence

import structlog

from mnemoir.core.errors import MnemoirError
from mnemoir.core.events import Event, MemoriesRecalled, MemorySkipped
from mnemoir.core.messages import Message
from mnemoir.core.runs import RecalledMemory
from mnemoir.core.text import RecalledLine
from mnemoir.ports.memory_service import RecallLimits, RecallResult
from mnemoir.ports.recalled import MOST_SAID, KeptRecall, Recollection, Reference, Standing
from mnemoir.wire.app_prompts import typed_text
from mnemoir.workflows.node import Node, NodeProperties
from mnemoir.workflows.nodes.recall_search import search_memory
from mnemoir.workflows.nodes.recalled_lines import Front, lines_for, lines_of, questions_of, shed
from mnemoir.workflows.run import Turn, last_user_message
from mnemoir.workflows.step import Step

_log = structlog.get_logger(__name__)
_MOST_BEFORE = 4  # messages: two turns


class Recall(Node[NodeProperties]):
    """Puts memories in front of the last user message.

    In a stored conversation that the built-in workflow answers, what was recalled for former questions stands in
    front of them, too, as far as it still holds: the messages before the newest one are the same from turn to turn.

    Its output are the memories recalled for the newest question, one per line; "" for none.
    """

    kind = "Recall"

    def applies(self, turn: Turn) -> bool:
        """True when memory is on and there is a question."""
        kept = self._recall_of(turn)
        return turn.caller.recalls and bool(turn.user_text or (kept and kept[0].question))

    async def run(self, step: Step) -> AsyncGenerator[Sequence[Event], None]:
        """Yield MemoriesRecalled, also when memory could not be reached: a failure of memory never fails a chat."""
        step.output = ""
        turn, front = step.run.turn, Front()
        try:
            degraded = await self._fill(front, turn)
            recalled = MemoriesRecalled(count=len(front.lines), degraded=degraded)
        except MnemoirError as exc:
            step.trace.error = exc.message
            _log.warning("memory could not be asked", node=step.definition.title, code=exc.code)
            _log.debug("memory could not be asked", error=exc.message)  # debug only: it may quote messages
            recalled = MemoriesRecalled(count=0, degraded=exc.message, is_failed=True)
        turn.messages = front.put_before(turn.messages)
        step.trace.memories, step.trace.standing = _trace_of(front.lines), _trace_of(front.former_lines)
        step.output = "\n".join(line.text_with_origin for line in front.lines)
        is_off = turn.trace.memory_skipped == "off" and not recalled.is_failed
        yield [*([MemorySkipped(reason="off")] if is_off else []), recalled]

    def _recall_of(self, turn: Turn) -> tuple[KeptRecall, Standing] | None:
        """What was recalled for the questions of the conversation; None where lines stand for one request alone."""
        stored, standing = turn.caller.recorded, self.services.memory.standing
        return (stored.recalled, standing) if stored and stored.recalled and standing else None

    async def _fill(self, front: Front, turn: Turn) -> str:
        """Find the lines in front of the questions; why they may not be all, "" without a reason."""
        limits = await self.services.memory.allowance(turn.caller.scope)
        if limits is None:
            turn.trace.memory_skipped = turn.trace.memory_skipped or "off"
            return "memory is switched off for this project"
        if kept := self._recall_of(turn):
            return await self._fill_conversation(front, turn, limits, *kept)
        front.place, sent = last_user_message(turn.messages), turn.chat.request.messages
        found, said = await self._search(turn, turn.user_text, sent[: last_user_message(sent)], limits)
        front.lines = [*found.lines, *said]
        return found.degraded

    async def _fill_conversation(
        self, front: Front, turn: Turn, limits: RecallLimits, kept: KeptRecall, standing: Standing
    ) -> str:
        """The same with the lines of former questions, which are stored as references."""
        questions = questions_of(turn.messages, kept)
        front.place = last_user_message(turn.messages) if questions.newest is None else questions.newest
        own = None if questions.uid is None or questions.is_open else kept.known.get(questions.uid)
        asked = "" if own is not None or front.place is None else typed_text(turn.messages[front.place].text)
        found, said, failure = RecallResult(), list[RecalledLine](), None
        if asked:
            try:
                found, said = await self._search(turn, asked, turn.messages[: front.place], limits)
            except MnemoirError as exc:  # former lines stand all the same
                failure = exc
        wanted = {place: kept.known[uid] for place, uid in questions.former.items()}
        references = {one for each in (*wanted.values(), own or ()) for one in each}
        now = await _recollect(standing, turn, references, [*found.lines, *said])
        front.former = {place: lines_of(each, now.lines) for place, each in wanted.items()}
        if own is not None:
            front.lines = lines_of(own, now.lines)
        if own is None and questions.uid is not None and questions.is_open:  # too many lines of former ones go
            for place in await shed(front.former, standing.most_tokens):
                kept.note(questions.former[place], ())
        if failure is not None:
            raise failure
        if asked:
            front.lines = lines_for(found.lines, said, front.former_lines, limits.tokens)
        if asked and questions.uid is not None:
            kept.note(questions.uid, [now.references[line] for line in front.lines if line in now.references])
        return found.degraded

    async def _search(
        self, turn: Turn, asked: str, before: Sequence[Message], limits: RecallLimits
    ) -> tuple[RecallResult, list[RecalledLine]]:
        """What memory has for a question, and the turns that wait to be learned from."""
        caller = turn.caller
        return await search_memory(
            self.services.memory,
            caller.scope,
            asked,
            limits,
            credential=caller.credential,
            recorded_scope=caller.recorded_scope,
            before=_before(before),
            sent=turn.chat.request.messages,
        )


async def _recollect(
    standing: Standing, turn: Turn, references: Collection[Reference], found: Sequence[RecalledLine]
) -> Recollection:
    """What stands, without a look where there is nothing to look for."""
    if not references and not found:
        return Recollection()
    return await standing.recollect(turn.caller.scope, references, found)


def _trace_of(lines: Sequence[RecalledLine]) -> list[RecalledMemory]:
    return [RecalledMemory(text=line.text_with_origin, id=line.id, fits=line.fits) for line in lines]


def _before(messages: Sequence[Message]) -> list[str]:
    """What was said in the turns before a question, cut to what can name a person there."""
    said = [message.text for message in messages if message.role in ("user", "assistant")]
    return [text[:MOST_SAID] for text in said[-_MOST_BEFORE:]]
