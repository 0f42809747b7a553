"""Remember: write the finished turn down, so that memories are derived from it behind the reply.

The node itself derives nothing. It leaves a durable job, which survives the process and is worked off by
`memory.background`; so it may run before the answer is closed and cost the client under a millisecond.
"""

from mnemoir.core.clock import to_text
from mnemoir.core.runs import WrittenMemory
from mnemoir.ports.memory_service import ChatTurn
from mnemoir.workflows.learning import answer_to_learn
from mnemoir.workflows.node import NodeProperties, ValueNode
from mnemoir.workflows.run import Turn
from mnemoir.workflows.step import Step


class Remember(ValueNode[NodeProperties]):
    """Keeps what the user typed and the answer, when the answer is whole."""

    kind = "Remember"

    def applies(self, turn: Turn) -> bool:
        """When memory is on and there was something said to an answer."""
        return turn.caller.learns and bool(turn.user_text)

    async def value(self, step: Step) -> str:
        """Always "". Raises StorageUnavailable when the turn cannot be written down."""
        turn, memory = step.run.turn, self.services.memory
        answer = answer_to_learn(turn)
        if answer is None:
            return ""
        if await memory.allowance(turn.caller.scope) is None:
            turn.trace.memory_skipped = turn.trace.memory_skipped or "off"
            return ""
        stored = turn.caller.recorded
        said = ChatTurn(
            user_text=turn.user_text,
            answer=answer,
            said_at=to_text(self.services.clock()),
            user_uid=stored.question_uid if stored else None,
            answer_uid=stored.answer_uid if stored else None,
        )
        job = await memory.keep(turn.caller, said)
        step.trace.written += [WrittenMemory(kind="turn", id=job)] if job else []
        return ""
