"""The services that nodes use: parts of the server behind their ports, memory, and limits."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mnemoir.conversations.users import UserConversations
from mnemoir.core.clock import Clock, utc_now
from mnemoir.core.memories import Origin
from mnemoir.core.scope import Scope
from mnemoir.memory.discussions.parts import DiscussionMemory
from mnemoir.ports.llm import ChatModel, ModelServers
from mnemoir.ports.memory_service import ChatTurn, MemoryService, RecallLimits
from mnemoir.ports.node_services import ModuleRunner, OfflineWikipedia, Timestamps, UserFiles
from mnemoir.ports.recalled import Standing
from mnemoir.wire.forwarding import Forwarding
from mnemoir.workflows.discussion_files import DiscussionPlaces
from mnemoir.workflows.locks import WorkflowLocks
from mnemoir.workflows.run import Caller


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMemory:
    """The memory of users, for the Recall and Remember nodes.

    `allowance` gives how much of memory the project of a scope allows in a prompt, None when it has switched memory
    off. `waiting` gives the user's queued turns, of which no memories are derived yet, oldest first. `keep`
    queues a turn, unless its stored conversation was deleted, and gives the id of its job, or "". `foreseen` gives
    the facts that will be found in a user's text, said in a time zone, where that is known without a language model.
    `learn_from` are the origins besides user and assistant whose words go along with a turn. `standing` finds the
    lines of former questions again, None where the memory is another server's.
    """

    service: MemoryService
    allowance: Callable[[Scope], Awaitable[RecallLimits | None]]
    waiting: Callable[[Scope], Awaitable[Sequence[ChatTurn]]]
    keep: Callable[[Caller, ChatTurn], Awaitable[str]]
    foreseen: Callable[[Scope, str, str | None], Awaitable[Sequence[str]]]
    learn_from: Collection[Origin] = ()
    standing: Standing | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of a run; times are seconds."""

    node_timeout_s: float = 1800
    module_timeout_s: float = 60
    most_depth: int = 50
    most_nodes: int = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The services passed to every node. `data_dir` is for files without a folder in the configuration.

    `own_model` gives the server's language model for a call that begins now; a later call may get another.

    `lock_directory` overrides the folder of locks in the users' files; None leaves it to them.
    """

    own_model: Callable[[], ChatModel]
    memory: ChatMemory
    discussions: DiscussionMemory
    discussion_places: DiscussionPlaces
    model_servers: ModelServers
    modules: ModuleRunner
    files: UserFiles
    wikipedia: OfflineWikipedia
    locks: WorkflowLocks
    timestamps: Timestamps
    data_dir: Path
    lock_directory: Path | None = None
    conversations: UserConversations | None = None
    limits: Limits = Limits()
    forwarding: Forwarding = field(default_factory=Forwarding)
    clock: Clock = utc_now
