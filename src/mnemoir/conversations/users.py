"""The conversations of one user: sessions, vectors, node memories and attachments in a separate folder."""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.conversations.nodes.memory import NodeParts
from mnemoir.core.scope import Scope
from mnemoir.ports.log import Log


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnConversations:
    """The data of one user. All methods block.

    `manager` searches, builds windows and embeds what it saves; all else is read from its log.
    """

    folder: Path
    manager: MemoryManager
    node_parts: NodeParts

    @property
    def log(self) -> Log:
        """The log of the conversations."""
        return self.manager.storage


class UserConversations(Protocol):
    """The conversations of every user of a server."""

    def of(self, scope: Scope) -> AbstractAsyncContextManager[OwnConversations]:
        """The conversations of the scope's owner, open until the context ends. Raises StorageUnavailable."""
