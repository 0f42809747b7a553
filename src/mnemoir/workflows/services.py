"""What nodes work with beside the run itself: the parts of the server, behind their ports."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mnemoir.conversations.users import UserConversations
from mnemoir.core.clock import Clock, utc_now
from mnemoir.core.scope import Scope
from mnemoir.memory.discussions.parts import DiscussionMemory
from mnemoir.ports.llm import ChatModel
from mnemoir.ports.memory_service import ChatTurn, MemoryService
from mnemoir.ports.model_servers import ModelServers
from mnemoir.ports.modules import ModuleRunner
from mnemoir.ports.timestamps import Timestamps
from mnemoir.ports.user_files import UserFiles
from mnemoir.ports.wikipedia import OfflineWikipedia
from mnemoir.wire.forwarding import Forwarding
from mnemoir.workflows.discussion_files import DiscussionPlaces
from mnemoir.workflows.locks import WorkflowLocks
from mnemoir.workflows.run import Caller


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMemory:
    """Memory of what users said, as the Recall and Remember nodes need it.

    `allowance` is how many memories the project of a scope lets into a prompt, None when it has switched memory off;
    `waiting` gives the user's turns that no memory has been derived from yet, oldest first; `keep` writes one down,
    unless the conversation it is stored in is gone, and gives the id of its job, "" for none.
    """

    service: MemoryService
    allowance: Callable[[Scope], Awaitable[int | None]]
    waiting: Callable[[Scope], Awaitable[Sequence[ChatTurn]]]
    keep: Callable[[Caller, ChatTurn], Awaitable[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How far a run may go; times are seconds."""

    node_timeout_s: float = 1800
    module_timeout_s: float = 60
    most_depth: int = 50
    most_nodes: int = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Handed to every node. `data_dir` is where files go whose folder a configuration does not name.

    `lock_directory` is where locks are kept whatever the users' files name; None leaves it to them.
    """

    own_model: ChatModel
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
