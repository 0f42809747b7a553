"""Who asked, and whether memory takes part."""

from dataclasses import dataclass, field, replace

from mnemoir.core.ids import new_run_id
from mnemoir.core.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTurn:
    """The turn of a stored conversation that is being answered; `message_id` is the newest message of it."""

    conversation_id: str
    turn_id: str
    message_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The party behind one chat request.

    `client_task` marks a request that an app made for itself (a title, tags, follow-up questions): nothing is
    recalled for it and nothing remembered. `credential` is the key it came with, to be sent on to memory.
    `recorded` is where the conversation is stored, None for one that is not. `run_id` names the run in its trace.
    """

    scope: Scope
    request_id: str
    memory: bool = False
    client_task: bool = False
    credential: str | None = field(default=None, repr=False)
    recorded: RecordedTurn | None = None
    run_id: str = field(default_factory=new_run_id)

    @property
    def recorded_scope(self) -> Scope:
        """The scope with the conversation it is stored as, also where the client named none."""
        return replace(self.scope, conversation=self.recorded.conversation_id) if self.recorded else self.scope

    @property
    def uses_memory(self) -> bool:
        """Memory was asked for, by a person's turn."""
        return self.memory and not self.client_task
