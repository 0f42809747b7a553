"""Who asked, and whether memory takes part."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from mnemoir.core.ids import new_message_uid, new_run_id
from mnemoir.core.runs import MemorySkip
from mnemoir.core.scope import Scope
from mnemoir.workflows.config.tree import UserTree


@dataclass(frozen=True, slots=True, kw_only=True)
class Answerer:
    """What the `model` of a request means: the built-in workflow, or with a config tree a user of it.

    `name` is what the answer says of who answered. `folder` is the folder of shared workflows that is asked for, ""
    for the user's own workflow.
    """

    name: str
    user: UserTree | None = None
    folder: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTurn:
    """The turn of a stored conversation that is being answered; `message_id` is the newest message of it.

    `question_uid` names the user's newest message, None where there is none, and `answer_uid` the answer to come.
    """

    conversation_id: str
    message_id: int
    question_uid: str | None = None
    answer_uid: str = field(default_factory=new_message_uid)

    @property
    def message_uids(self) -> Sequence[str]:
        """Question and answer."""
        return [uid for uid in (self.question_uid, self.answer_uid) if uid is not None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The party behind one chat request.

    `client_task` names what an app asks for itself (a title, tags, follow-up questions), None for a person's turn:
    nothing is recalled for it and nothing of it kept. The same holds for a raw request (`ModelRequest.raw`), whose
    prompt reaches the model as it came. Nothing of a temporary chat outlives its answer, though it may recall.
    `credential` is the key it came with, to be sent on to memory.
    `answerer` is who answers, where that was looked up before: the files of a user are looked at once for a request.
    `recorded` is where the conversation is stored, None for one that is not. `run_id` names the run in its trace.
    """

    scope: Scope
    request_id: str
    memory: bool = False
    client_task: str | None = None
    is_temporary: bool = False
    is_raw: bool = False
    credential: str | None = field(default=None, repr=False)
    answerer: Answerer | None = None
    recorded: RecordedTurn | None = None
    run_id: str = field(default_factory=new_run_id)

    @property
    def recorded_scope(self) -> Scope:
        """The scope with the conversation it is stored as, also where the client named none."""
        return replace(self.scope, conversation=self.recorded.conversation_id) if self.recorded else self.scope

    @property
    def memory_skipped(self) -> MemorySkip | None:
        """Why memory takes no part, as far as the request tells; None where it asks for memory."""
        if self.client_task is not None:
            return "task"
        if self.is_temporary:
            return "temporary"
        if self.is_raw:
            return "raw"
        return None if self.memory else "off"

    @property
    def may_be_kept(self) -> bool:
        """Whether anything of what is said may be kept: a person's turn, in a chat that is not temporary."""
        return self._is_a_turn and not self.is_temporary

    @property
    def recalls(self) -> bool:
        """Memory was asked for, by a person's turn."""
        return self.memory and self._is_a_turn

    @property
    def learns(self) -> bool:
        """Memory was asked for, by a person's turn that may be kept."""
        return self.memory and self.may_be_kept

    @property
    def _is_a_turn(self) -> bool:
        """Whether it is a person's turn, which can be recalled for."""
        return self.client_task is None and not self.is_raw
