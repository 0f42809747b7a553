"""The node memories of one conversation: listing, reading, copying and deleting.

The store belongs to one user. The id of a memory is the two encoded parts `{app}/{node}` of its key, which exist
even when an id was too long to be stored. All functions block and raise StorageUnavailable, and NotSupported for a
store that cannot list its objects.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from mnemoir.conversations.nodes.document import NodeMemoryMessage
from mnemoir.conversations.nodes.keys import NODE_MEMORY_PREFIX, conversation_step, name_of_step
from mnemoir.conversations.nodes.object import NodeObject
from mnemoir.ports.objects import ObjectEntry, ObjectNotFound, ObjectStore

_ENDING = ".json"
_PREFIX_STEPS = 3  # node_memory/{app}/{conversation}/


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedNode:
    """A node memory as the store lists it. `app` and `node` are None when their ids were too long to be stored.

    `damaged_copies` is the number of copies of unreadable bytes.
    """

    id: str
    app: str | None
    node: str | None
    key: str
    size_bytes: int
    updated_at: datetime
    damaged_copies: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadNode:
    """The records of a memory; none when it is unreadable, for the reason in `damage`, or of a later version."""

    records: Sequence[NodeMemoryMessage]
    damage: str | None
    is_newer: bool


def list_node_memories(objects: ObjectStore, conversation_id: str) -> list[ListedNode]:
    """The node memories of a conversation, last written first. Copies of damaged ones are counted, not listed."""
    found = list(objects_of(objects, conversation_id))
    copies = [entry.key for entry in found if not entry.key.endswith(_ENDING)]
    listed = [_listed_node(entry, copies) for entry in found if entry.key.endswith(_ENDING)]
    return sorted(listed, key=lambda one: (one.updated_at, one.id), reverse=True)


def read_node_memory(objects: ObjectStore, listed: ListedNode) -> ReadNode:
    """The memory's records in the order in which they were added; none when it was deleted meanwhile."""
    reading = NodeObject(key=listed.key, store=objects).read()
    return ReadNode(records=reading.data.messages, damage=reading.damage, is_newer=reading.is_newer)


def clear_node_memory(objects: ObjectStore, conversation_id: str, id: str) -> bool:
    """Delete a memory with its copies of damaged bytes; False when there is none.

    A node that runs meanwhile stores its new round only.
    """
    keys = [entry.key for entry in objects_of(objects, conversation_id) if _id_of(entry.key) == id]
    for key in keys:
        objects.delete(key)
    return bool(keys)


def _listed_node(entry: ObjectEntry, copies: Sequence[str]) -> ListedNode:
    id = _id_of(entry.key)
    app, _, node = id.partition("/")
    return ListedNode(
        id=id,
        app=name_of_step(app),
        node=name_of_step(node),
        key=entry.key,
        size_bytes=entry.size_bytes,
        updated_at=entry.last_modified,
        damaged_copies=sum(copy.startswith(f"{entry.key}.corrupt-") for copy in copies),
    )


def _id_of(key: str) -> str:
    steps = key.split("/")
    return f"{steps[1]}/{steps[_PREFIX_STEPS].partition(_ENDING + '.corrupt-')[0].removesuffix(_ENDING)}"
