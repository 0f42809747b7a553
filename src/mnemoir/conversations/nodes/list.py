"""The memories of nodes of one conversation, to be looked at and cleared one by one.

A memory is known by the two last steps of its key, `{app}/{node}`: they name it even where an id was too long to be
kept. All of it blocks, and raises StorageUnavailable, and NotSupported for a store that cannot list its objects.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from mnemoir.conversations.nodes.conversation_nodes import objects_of
from mnemoir.conversations.nodes.document import NodeMemoryMessage
from mnemoir.conversations.nodes.keys import name_of_step
from mnemoir.conversations.nodes.object import NodeObject
from mnemoir.ports.objects import ObjectEntry, ObjectStore

_ENDING = ".json"
_PREFIX_STEPS = 3  # node_memory/{app}/{conversation}/


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedNode:
    """A node's memory as the store lists it. `app` and `node` are None where their ids were too long to be kept.

    `damaged_copies` are of bytes that could not be read and were set aside.
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
    """What a memory holds; nothing where `damage` says why it cannot be read, or a later version wrote it."""

    records: Sequence[NodeMemoryMessage]
    damage: str | None
    is_newer: bool


def list_node_memories(objects: ObjectStore, conversation_id: str) -> list[ListedNode]:
    """Those of the conversation, last written first. A copy of a damaged one is listed with what took its place."""
    found = list(objects_of(objects, conversation_id))
    copies = [entry.key for entry in found if not entry.key.endswith(_ENDING)]
    listed = [_listed(entry, copies) for entry in found if entry.key.endswith(_ENDING)]
    return sorted(listed, key=lambda one: (one.updated_at, one.id), reverse=True)


def read_node_memory(objects: ObjectStore, listed: ListedNode) -> ReadNode:
    """Its records in the order in which they were added; none when it was cleared meanwhile."""
    reading = NodeObject(key=listed.key, store=objects).read()
    return ReadNode(records=reading.data.messages, damage=reading.damage, is_newer=reading.is_newer)


def clear_node_memory(objects: ObjectStore, conversation_id: str, id: str) -> bool:
    """Delete one, with copies of damaged ones; False when there is none.

    A node that is at work meanwhile keeps its new round, and nothing of what was cleared.
    """
    keys = [entry.key for entry in objects_of(objects, conversation_id) if _id_of(entry.key) == id]
    for key in keys:
        objects.delete(key)
    return bool(keys)


def _listed(entry: ObjectEntry, copies: Sequence[str]) -> ListedNode:
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
