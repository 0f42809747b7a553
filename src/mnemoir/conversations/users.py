"""The conversations of one user, in a separate folder: sessions, vectors, node memories, attachments; and their
removal.

Removing a conversation deletes everything that belongs to it alone. Data derived from it elsewhere is not handled
here. Files are deleted before the session, so that a failed removal can be repeated; and once more after it, for
files that concurrent work has written meanwhile.
"""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol

from mnemoir.conversations.attachments.attachments import Attachments
from mnemoir.conversations.attachments.links import attachments_prefix
from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.conversations.nodes.conversation_nodes import forget_node_memories
from mnemoir.conversations.nodes.memory import NodeParts
from mnemoir.conversations.open_questions import OpenQuestions
from mnemoir.core.scope import Scope
from mnemoir.ports.log import Log
from mnemoir.ports.objects import ObjectStore


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnConversations:
    """The data of one user. All methods block.

    `manager` searches, builds windows and embeds what it saves; all else is read from its log. `open_questions` are
    those of all users.
    """

    folder: Path
    manager: MemoryManager
    node_parts: NodeParts
    open_questions: OpenQuestions = field(default_factory=OpenQuestions)

    @property
    def log(self) -> Log:
        """The log of the conversations."""
        return self.manager.storage


class UserConversations(Protocol):
    """The conversations of every user of a server."""

    def of(self, scope: Scope) -> AbstractAsyncContextManager[OwnConversations]:
        """The conversations of the scope's owner, open until the context ends. Raises StorageUnavailable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """The counts of removed items. `messages` are those of all branches."""

    messages: int = 0
    node_memories: int = 0
    attachments: int = 0


def remove_conversation(own: OwnConversations, session_id: str) -> Removed | None:
    """Remove a conversation; None if it does not exist. Blocks; raises StorageUnavailable, the rest still there."""
    manager, objects = own.manager, own.node_parts.objects
    if not manager.session_exists(session_id):
        return None
    attachments = _delete_attachments(objects, session_id)
    node_memories = forget_node_memories(objects, session_id)
    messages = manager.clear_history(session_id)
    manager.delete_session(session_id)
    attachments += _delete_attachments(objects, session_id)
    node_memories += forget_node_memories(objects, session_id)
    return Removed(messages=messages, node_memories=node_memories, attachments=attachments)


def remove_if_old(own: OwnConversations, session_id: str, before: datetime) -> bool:
    """Remove a conversation last used before that time (UTC), unless marked to be kept; True if it was removed.

    Its age is checked again, as it may have been used meanwhile. Blocks; raises as `remove_conversation` does.
    """
    record = own.manager.get_session(session_id)
    if record is None or record.metadata.is_kept or record.updated_at >= before:
        return False
    return remove_conversation(own, session_id) is not None


def _delete_attachments(objects: ObjectStore, session_id: str) -> int:
    deleted = Attachments(objects).delete(session_id)
    objects.delete(f"{attachments_prefix(session_id)}none")  # with what a killed writer left where no object is
    return deleted
