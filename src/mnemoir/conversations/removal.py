"""Taking a user's conversation away with everything that belongs to it alone: messages, vectors, attachments, notes.

What was derived from it elsewhere is not known here. Files go before the session, so that a removal that fails can be
asked for again; and once more behind it, for who was at work meanwhile and did not know yet.
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
    """How much there was. `messages` are those of all branches."""

    messages: int = 0
    node_memories: int = 0
    attachments: int = 0


def remove_conversation(own: OwnConversations, session_id: str) -> Removed | None:
    """None when there is no such conversation. Blocks; raises StorageUnavailable with what is left still there."""
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
    """Remove one that was last used before that time, in UTC, unless it is to be kept; whether it is gone by that.

    It may have been used since it was found to be old. Blocks; raises as `remove_conversation` does.
    """
    record = own.manager.get_session(session_id)
    if record is None or record.metadata.is_kept or record.updated_at >= before:
        return False
    return remove_conversation(own, session_id) is not None


def _delete_attachments(objects: ObjectStore, session_id: str) -> int:
    deleted = Attachments(objects).delete(session_id)
    objects.delete(f"{attachments_prefix(session_id)}none")  # with what a killed writer left where no object is
    return deleted
