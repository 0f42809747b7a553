"""`/api/conversations/{id}/node-memory`: the memory that workflow nodes hold of a conversation, read and cleared."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from mnemoir.conversations.nodes.conversation_nodes import (
    ListedNode,
    ReadNode,
    clear_node_memory,
    forget_node_memories,
    list_node_memories,
    read_node_memory,
)
from mnemoir.conversations.nodes.document import NodeMemoryMessage
from mnemoir.conversations.users import OwnConversations
from mnemoir.core.clock import to_text
from mnemoir.core.conversations import Message
from mnemoir.core.errors import NotFound
from mnemoir.server.answer import Answer, Done, JsonObject
from mnemoir.server.conversations.access import CONVERSATIONS, ONE, OwnerHere, holding
from mnemoir.server.door.rest_routes import RouteAsSent
from mnemoir.server.door.says import says
from mnemoir.server.rest import Routes, SiteHere
from mnemoir.workflows.history_store import COUNTER

router = Routes(prefix=CONVERSATIONS + ONE, tags=["conversations"], route_class=RouteAsSent)

_LAST = 2  # records in the list
_OF_WORKFLOW = 3  # folder, workflow, title: the name of a node without an id of its own


NodeProblem = Literal["damaged", "newer"]


class NodeRecordAnswer(JsonObject):
    """A message that the node sent or received in a turn; `turn` is the id of its run."""

    turn: str
    role: str
    content: str
    created_at: str
    files: int
    tool_calls: int


class NodeMemoryAnswer(JsonObject):
    """The memory of a node. `workflow` and `node` are its names; null for an id too long to be stored.

    A `problem` reports that its bytes cannot be read, or that a later version wrote them.
    """

    id: Annotated[str, Field(description="names it in the routes below")]
    application: str | None
    workflow: str | None
    node: str | None
    turns: int
    messages: int
    tokens: int
    size_bytes: int
    updated_at: str
    problem: NodeProblem | None
    damaged_copies: int
    last: list[NodeRecordAnswer]


class NodeMemories(JsonObject):
    """The node memories of a conversation, latest write first."""

    results: list[NodeMemoryAnswer]


class NodeRecords(JsonObject):
    """The records of a node's memory, oldest first."""

    results: list[NodeRecordAnswer]
    problem: NodeProblem | None


class ClearedAnswer(Done):
    """The number of node memory objects that were removed."""

    deleted: int


@router.get("/node-memory", summary="What each node remembers of it, last written first")
@says("read")
async def list_of_nodes(site: SiteHere, scope: OwnerHere, id: str) -> Answer[NodeMemories]:
    async with holding(site, scope, id) as own:
        return await asyncio.to_thread(_node_memories, own, id)


@router.delete("/node-memory", summary="Clear the memories of all its nodes")
@says("write", act=None)
async def clear_all(site: SiteHere, scope: OwnerHere, id: str) -> Answer[ClearedAnswer]:
    await site.parts.upkeep.holds.refuse(scope)
    async with holding(site, scope, id) as own:
        deleted = await asyncio.to_thread(forget_node_memories, own.node_parts.objects, id)
    return Answer({"success": True, "message": f"Cleared {deleted} node memories", "deleted": deleted})


@router.get("/node-memory/{memory}", summary="All that a node remembers")
@says("read")
async def read(site: SiteHere, scope: OwnerHere, id: str, memory: str) -> Answer[NodeRecords]:
    async with holding(site, scope, id) as own:
        return await asyncio.to_thread(_read, own, id, memory)


@router.delete("/node-memory/{memory}", summary="Clear the memory of a node")
@says("write", act=None)
async def clear(site: SiteHere, scope: OwnerHere, id: str, memory: str) -> Answer[ClearedAnswer]:
    await site.parts.upkeep.holds.refuse(scope)
    async with holding(site, scope, id) as own:
        if not await asyncio.to_thread(clear_node_memory, own.node_parts.objects, id, memory):
            raise _unknown(id, memory)
    return Answer({"success": True, "message": "Cleared the memory of the node", "deleted": 1})


def _node_memories(own: OwnConversations, id: str) -> Answer[NodeMemories]:
    objects = own.node_parts.objects
    listed = list_node_memories(objects, id)
    return Answer({"results": [_node_json(one, read_node_memory(objects, one)) for one in listed]})


def _read(own: OwnConversations, id: str, memory: str) -> Answer[NodeRecords]:
    objects = own.node_parts.objects
    listed = next((one for one in list_node_memories(objects, id) if one.id == memory), None)
    if listed is None:
        raise _unknown(id, memory)
    found = read_node_memory(objects, listed)
    return Answer({"results": [_record_json(one) for one in found.records], "problem": _problem(found)})


def _node_json(listed: ListedNode, found: ReadNode) -> NodeMemoryAnswer:
    workflow, node = _names(listed.node)
    return {
        "id": listed.id,
        "application": listed.app,
        "workflow": workflow,
        "node": node,
        "turns": len({record.message_id for record in found.records}),
        "messages": len(found.records),
        "tokens": _tokens(found.records),
        "size_bytes": listed.size_bytes,
        "updated_at": to_text(listed.updated_at),
        "problem": _problem(found),
        "damaged_copies": listed.damaged_copies,
        "last": [_record_json(record) for record in found.records[-_LAST:]],
    }


def _names(node: str | None) -> tuple[str | None, str | None]:
    """The node's workflow and its name there. A node with an id of its own belongs to no particular workflow."""
    steps = (node or "").split("/", _OF_WORKFLOW - 1)
    return (steps[1], steps[2]) if len(steps) == _OF_WORKFLOW else (None, node)


def _tokens(records: Sequence[NodeMemoryMessage]) -> int:
    return COUNTER.count([Message("user", record.content) for record in records])


def _problem(found: ReadNode) -> NodeProblem | None:
    if found.is_newer:
        return "newer"
    return "damaged" if found.damage else None


def _record_json(record: NodeMemoryMessage) -> NodeRecordAnswer:
    calls = (record.model_extra or {}).get("tool_calls")
    return {
        "turn": record.message_id,
        "role": record.role,
        "content": record.content,
        "created_at": to_text(record.created_at),
        "files": len(record.files),
        "tool_calls": len(calls) if isinstance(calls, list) else 0,
    }


def _unknown(id: str, memory: str) -> NotFound:
    return NotFound(
        f"No node {memory[:80]!r} remembers anything of the conversation {id[:80]!r}. List its node memories.",
        code="node_memory_not_found",
    )
