"""The caller of a chat: its scope, its kind of request, and whether memory is used for it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from mnemoir.core.ids import new_message_uid, new_run_id
from mnemoir.core.runs import MemorySkip
from mnemoir.core.scope import Scope
from mnemoir.workflows.config.tree import UserTree


@dataclass(frozen=True, slots=True, kw_only=True)
class Answerer:
    """The meaning of the `model` of a request: the built-in workflow, or a user of the config tree.

    `name` is the model name in the answer. `folder` is the requested folder of shared workflows, "" for the user's
    own workflow.
    """

    name: str
    user: UserTree | None = None
    folder: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTurn:
    """The turn of a stored conversation that is being answered; `message_id` is its newest message.

    `question_uid` is the uid of the user's newest message, None without one; `answer_uid` is that of the answer to
    come.
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
    """The caller of one chat request.

    `client_task` names a task of the app itself (a title, tags, follow-up questions); it is None for a person's turn.
    For a task no memory is recalled and nothing is stored; the same holds for a raw request (`ModelRequest.raw`),
    whose prompt is sent to the model unchanged. A temporary chat may recall memories, but nothing of it is stored.
    `credential` is the request's key, which is sent on to the memory service. `answerer` is given if it was looked up
    before, so that a request reads the user's files only once. `recorded` is the turn of the stored conversation,
    None for a conversation that is not stored. `run_id` is the id of the run and its trace.
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
        """The scope with the id of the stored conversation, also when the client sent none."""
        return replace(self.scope, conversation=self.recorded.conversation_id) if self.recorded else self.scope

    @property
    def memory_skipped(self) -> MemorySkip | None:
        """The reason in the request why memory is not used; None when the request asks for memory."""
        if self.client_task is not None:
            return "task"
        if self.is_temporary:
            return "temporary"
        if self.is_raw:
            return "raw"
        return None if self.memory else "off"

    @property
    def may_be_kept(self) -> bool:
        """True when messages may be stored: for a person's turn in a chat that is not temporary."""
        return self._is_a_turn and not self.is_temporary

    @property
    def recalls(self) -> bool:
        """True when memories are recalled: for a person's turn that asks for memory."""
        return self.memory and self._is_a_turn

    @property
    def learns(self) -> bool:
        """True when memories are derived: for a person's turn that asks for memory and may be stored."""
        return self.memory and self.may_be_kept

    @property
    def _is_a_turn(self) -> bool:
        """True for a person's turn, False for a task of an app and a raw request."""
        return self.client_task is None and not self.is_raw
