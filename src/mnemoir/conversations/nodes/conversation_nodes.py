"""Deletion and copying of all node memories of one conversation, over all applications.

The store belongs to one user. All functions block and raise StorageUnavailable, and NotSupported for a store that
cannot list its objects.
"""

from collections.abc import Iterator

from mnemoir.conversations.nodes.keys import NODE_MEMORY_PREFIX, conversation_step
from mnemoir.ports.objects import ObjectEntry, ObjectNotFound, ObjectStore


def forget_node_memories(objects: ObjectStore, conversation_id: str) -> int:
    """Delete all node memories of a conversation, including copies of damaged ones; the number of objects.

    Delete the conversation's messages first: a node that still runs then deletes its new memory itself.
    """
    keys = [entry.key for entry in objects_of(objects, conversation_id)]
    for key in keys:
        objects.delete(key)
    return len(keys)


def copy_node_memories(objects: ObjectStore, conversation_id: str, new_id: str) -> int:
    """Copy all node memories to a branched conversation; the number of objects.

    The branch's messages name the same runs, so each node remembers the turns up to the branch and no later ones.
    """
    copied = 0
    for entry in list(objects_of(objects, conversation_id)):
        try:
            content = objects.load_once(entry.key)
        except ObjectNotFound:  # deleted meanwhile
            continue
        _, application, _, node = entry.key.split("/")
        objects.save(f"{NODE_MEMORY_PREFIX}{application}/{conversation_step(new_id)}/{node}", content)
        copied += 1
    return copied


def objects_of(objects: ObjectStore, conversation_id: str) -> Iterator[ObjectEntry]:
    """The objects of a conversation, including copies of damaged ones; their keys have four parts."""
    wanted = conversation_step(conversation_id)
    for entry in objects.scan(NODE_MEMORY_PREFIX):
        steps = entry.key.split("/")
        if len(steps) == 4 and steps[2] == wanted:
            yield entry
