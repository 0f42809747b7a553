"""Remember: write the finished turn down, so that memories are derived from it behind the reply.

The node itself derives nothing. It leaves a durable job, which survives the process and is worked off by
`memory.background`; so it may run before the answer is closed and cost the client under a millisecond.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

from mnemoir.core.clock import Clock, to_text, utc_now
from mnemoir.core.events import Event
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_service import ChatTurn
from mnemoir.workflows.nodes.recall import Allowance
from mnemoir.workflows.run import Run

KeepTurn = Callable[[Scope, ChatTurn], Awaitable[None]]


class Remember:
    """Keeps what the user typed and the answer, when the answer is whole."""

    def __init__(self, keep: KeepTurn, allowance: Allowance, clock: Clock = utc_now) -> None:
        self._keep = keep
        self._allowance = allowance
        self._clock = clock

    def applies(self, run: Run) -> bool:
        """When memory is on and there was something said to an answer."""
        return run.caller.uses_memory and bool(run.user_text)

    async def run(self, run: Run) -> AsyncGenerator[Sequence[Event], None]:
        """Yields nothing. Raises StorageUnavailable when the turn cannot be written down."""
        turn = self._turn(run)
        if turn is not None and await self._allowance(run.caller.scope) is not None:
            await self._keep(run.caller.scope, turn)
        return
        yield  # a node is a generator, also one that says nothing

    def _turn(self, run: Run) -> ChatTurn | None:
        reason = run.finished.reason if run.finished else None
        answer = "".join(run.answer).strip()
        if not (answer or run.is_overlong) or reason not in ("stop", "length"):
            return None
        is_whole = reason == "stop" and not run.is_overlong
        said_at = to_text(self._clock())
        return ChatTurn(user_text=run.user_text, answer=answer if is_whole else "", said_at=said_at)
