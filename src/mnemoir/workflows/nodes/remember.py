"""Remember: queues the finished turn, so that memories are derived from it after the reply.

The node itself derives no memories. It stores a durable job, which survives a restart and is processed by
`memory.background`. So it may run before the answer is closed, and delays the client by less than a millisecond.
"""

from datetime import UTC

from mnemoir.core.clock import to_local_text
from mnemoir.core.events import Text
from mnemoir.core.runs import WrittenMemory
from mnemoir.core.zones import zone_by_name
from mnemoir.memory.facts.extract.acknowledging import acknowledgement
from mnemoir.ports.memory_service import ChatTurn
from mnemoir.workflows.node import NodeProperties, ValueNode
from mnemoir.workflows.remembering import answer_to_learn, outside_texts, texts_before
from mnemoir.workflows.run import Turn
from mnemoir.workflows.step import Step


class Remember(ValueNode[NodeProperties]):
    """Queues the user's message as typed and the answer, if the answer is complete."""

    kind = "Remember"

    def applies(self, turn: Turn) -> bool:
        """True when memory is on and the user message has a text."""
        return turn.caller.learns and bool(turn.user_text)

    async def value(self, step: Step) -> str:
        """Always "". Raises StorageUnavailable when the turn cannot be stored."""
        turn, memory = step.run.turn, self.services.memory
        answer = answer_to_learn(turn)
        if answer is None:
            return ""
        if await memory.allowance(turn.caller.scope) is None:
            turn.trace.memory_skipped = turn.trace.memory_skipped or "off"
            return ""
        stored, zone = turn.caller.recorded, turn.caller.zone
        said = ChatTurn(
            user_text=turn.user_text,
            answer=answer,
            said_at=to_local_text(self.services.clock().astimezone(zone_by_name(zone) if zone else UTC)),
            user_uid=stored.question_uid if stored else None,
            answer_uid=stored.answer_uid if stored else None,
            outside=outside_texts(turn.chat.request.messages, memory.learn_from),
            zone=zone,
            context=texts_before(turn.chat.request.messages),
        )
        job = await memory.keep(turn.caller, said)
        if job:
            step.trace.written.append(WrittenMemory(kind="turn", id=job))
            await self._acknowledge(turn)
        return ""

    async def _acknowledge(self, turn: Turn) -> None:
        """Let an answer of the offline model say what is going to be remembered.

        It is said behind the text that is learned from, while the answer is still open, and only where it belongs:
        not into JSON, and not behind an answer that was cut.
        """
        is_open = self.properties.before_close and turn.finished is not None and turn.finished.reason == "stop"
        is_own = bool(turn.answering) and turn.answering[-1].type.lower() == "respond"
        is_offline = is_own and self.services.own_model().provider == "offline"
        if not (is_open and is_offline) or turn.chat.request.output is not None:
            return
        caller = turn.caller
        facts = await self.services.memory.foreseen(caller.scope, turn.user_text, caller.zone)
        if sentence := acknowledgement(facts):
            await turn.say([Text(f"\n\n{sentence}")])
