"""What all nodes remember of one conversation, whichever applications they belong to: forgotten or copied together.

The store is one user's. All of it blocks, and raises StorageUnavailable, and NotSupported for a store that cannot
list its objects.
"""

from collections.abc import Iterator

from mnemoir.conversations.nodes.keys import NODE_MEMORY_PREFIX, conversation_step
from mnemoir.ports.objects import ObjectEntry, ObjectNotFound, ObjectStore


def forget_node_memories(objects: ObjectStore, conversation_id: str) -> int:
    """Delete them, with copies of damaged ones; how many objects.

    Delete the conversation's messages first: a node that is still at work then deletes what it keeps by itself.
    """
    keys = [entry.key for entry in objects_of(objects, conversation_id)]
    for key in keys:
        objects.delete(key)
    return len(keys)


def copy_node_memories(objects: ObjectStore, conversation_id: str, new_id: str) -> int:
    """Give a conversation that was branched off copies of them; how many objects.

    Its messages name the same runs, so each node remembers what led to the branch and nothing of what came after.
    """
    copied = 0
    for entry in list(objects_of(objects, conversation_id)):
        try:
            content = objects.load_once(entry.key)
        except ObjectNotFound:  # forgotten meanwhile
            continue
        _, application, _, node = entry.key.split("/")
        objects.save(f"{NODE_MEMORY_PREFIX}{application}/{conversation_step(new_id)}/{node}", content)
        copied += 1
    return copied


def objects_of(objects: ObjectStore, conversation_id: str) -> Iterator[ObjectEntry]:
    """The objects of a conversation, copies of damaged ones among them; the keys have four steps."""
    wanted = conversation_step(conversation_id)
    for entry in objects.scan(NODE_MEMORY_PREFIX):
        steps = entry.key.split("/")
        if len(steps) == 4 and steps[2] == wanted:
            yield entry
