"""Removes a user's conversation with everything that belongs to it alone: messages, vectors, attachments, notes.

Data derived from it elsewhere is not handled here. Files are deleted before the session, so that a failed removal can
be repeated; and once more after it, for files that concurrent work has written meanwhile.
"""

from dataclasses import dataclass
from datetime import datetime

from mnemoir.conversations.attachments.attachments import Attachments
from mnemoir.conversations.attachments.links import attachments_prefix
from mnemoir.conversations.nodes.conversation_nodes import forget_node_memories
from mnemoir.conversations.users import OwnConversations
from mnemoir.ports.objects import ObjectStore


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
