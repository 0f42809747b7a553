"""What all nodes remember of one conversation, whichever applications they belong to: forgotten or copied together.

The store is one user's. All of it blocks, and raises StorageUnavailable, and NotSupported for a store that cannot
list its objects.
"""

from collections.abc import Iterator

from mnemoir.conversations.node_keys import NODE_MEMORY_PREFIX, conversation_step
from mnemoir.ports.objects import ObjectNotFound, ObjectStore


def forget_node_memories(objects: ObjectStore, conversation_id: str) -> int:
    """Delete them, with copies of damaged ones; how many objects.

    Delete the conversation's messages first: a node that is still at work then deletes what it keeps by itself.
    """
    keys = [f"{start}{rest}" for start, rest in _of(objects, conversation_id)]
    for key in keys:
        objects.delete(key)
    return len(keys)


def copy_node_memories(objects: ObjectStore, conversation_id: str, new_id: str) -> int:
    """Give a conversation that was branched off copies of them; how many objects.

    Its messages name the same runs, so each node remembers what led to the branch and nothing of what came after.
    """
    copied = 0
    for start, rest in list(_of(objects, conversation_id)):
        try:
            content = objects.load_once(f"{start}{rest}")
        except ObjectNotFound:  # forgotten meanwhile
            continue
        application = start.split("/")[1]
        objects.save(f"{NODE_MEMORY_PREFIX}{application}/{conversation_step(new_id)}/{rest}", content)
        copied += 1
    return copied


def _of(objects: ObjectStore, conversation_id: str) -> Iterator[tuple[str, str]]:
    """The keys of a conversation's objects, each as what is in front of the node's step, and that."""
    wanted = conversation_step(conversation_id)
    for entry in objects.scan(NODE_MEMORY_PREFIX):
        steps = entry.key.split("/")
        if len(steps) == 4 and steps[2] == wanted:
            yield "/".join(steps[:3]) + "/", steps[3]
