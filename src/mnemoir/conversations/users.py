"""Whose conversations: each user's sessions, vectors, node memories and attachments lie in a folder of their own."""

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
    """What one user has. All of it blocks.

    `manager` searches, makes windows and has vectors made of what it saves; all else is read from the log behind it.
    """

    folder: Path
    manager: MemoryManager
    node_parts: NodeParts

    @property
    def log(self) -> Log:
        """The conversations themselves."""
        return self.manager.storage


class UserConversations(Protocol):
    """The conversations of every user of a server."""

    def of(self, scope: Scope) -> AbstractAsyncContextManager[OwnConversations]:
        """Those of the scope's owner, open until the context ends. Raises StorageUnavailable."""
