"""`/api/conversations/{id}/node-memory`: what nodes of workflows remember of a conversation, read and cleared."""

import asyncio
from collections.abc import Sequence

from fastapi import APIRouter
from starlette.responses import Response

from mnemoir.conversations.conversation_nodes import forget_node_memories
from mnemoir.conversations.messages import Message
from mnemoir.conversations.node_document import NodeMemoryMessage
from mnemoir.conversations.node_list import (
    ListedNode,
    ReadNode,
    clear_node_memory,
    list_node_memories,
    read_node_memory,
)
from mnemoir.conversations.users import OwnConversations
from mnemoir.core.clock import to_text
from mnemoir.core.errors import NotFound
from mnemoir.server.conversation_access import CONVERSATIONS, ONE, OwnerHere, holding
from mnemoir.server.conversation_answers import ClearedAnswer, NodeMemories, NodeRecords
from mnemoir.server.conversation_models import Json, conversation_answer
from mnemoir.server.raw_paths import RouteAsSent
from mnemoir.server.rest import SiteHere
from mnemoir.workflows.history_store import COUNTER

router = APIRouter(prefix=CONVERSATIONS + ONE, tags=["conversations"], route_class=RouteAsSent)

_LAST = 2  # records in the list
_OF_WORKFLOW = 3  # folder, workflow, title: how a node without an id of its own is called


@router.get("/node-memory", summary="What each node remembers of it, last written first", response_model=NodeMemories)
async def list_of_nodes(site: SiteHere, scope: OwnerHere, id: str) -> Response:
    async with holding(site, scope, id) as own:
        return await asyncio.to_thread(_listed, own, id)


@router.delete("/node-memory", summary="Clear the memories of all its nodes", response_model=ClearedAnswer)
async def clear_all(site: SiteHere, scope: OwnerHere, id: str) -> Response:
    async with holding(site, scope, id) as own:
        deleted = await asyncio.to_thread(forget_node_memories, own.node_parts.objects, id)
    return conversation_answer({"success": True, "message": f"Cleared {deleted} node memories", "deleted": deleted})


@router.get("/node-memory/{memory}", summary="All that a node remembers", response_model=NodeRecords)
async def read(site: SiteHere, scope: OwnerHere, id: str, memory: str) -> Response:
    async with holding(site, scope, id) as own:
        return await asyncio.to_thread(_read, own, id, memory)


@router.delete("/node-memory/{memory}", summary="Clear the memory of a node", response_model=ClearedAnswer)
async def clear(site: SiteHere, scope: OwnerHere, id: str, memory: str) -> Response:
    async with holding(site, scope, id) as own:
        if not await asyncio.to_thread(clear_node_memory, own.node_parts.objects, id, memory):
            raise _unknown(id, memory)
    return conversation_answer({"success": True, "message": "Cleared the memory of the node", "deleted": 1})


def _listed(own: OwnConversations, id: str) -> Response:
    objects = own.node_parts.objects
    listed = list_node_memories(objects, id)
    return conversation_answer({"results": [_node_json(one, read_node_memory(objects, one)) for one in listed]})


def _read(own: OwnConversations, id: str, memory: str) -> Response:
    objects = own.node_parts.objects
    listed = next((one for one in list_node_memories(objects, id) if one.id == memory), None)
    if listed is None:
        raise _unknown(id, memory)
    found = read_node_memory(objects, listed)
    return conversation_answer({"results": [_record_json(one) for one in found.records], "problem": _problem(found)})


def _node_json(listed: ListedNode, found: ReadNode) -> Json:
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
    """Its workflow and what it is called there. A node with an id of its own belongs to no workflow in particular."""
    steps = (node or "").split("/", _OF_WORKFLOW - 1)
    return (steps[1], steps[2]) if len(steps) == _OF_WORKFLOW else (None, node)


def _tokens(records: Sequence[NodeMemoryMessage]) -> int:
    return COUNTER.count([Message("user", record.content) for record in records])


def _problem(found: ReadNode) -> str | None:
    if found.is_newer:
        return "newer"
    return "damaged" if found.damage else None


def _record_json(record: NodeMemoryMessage) -> Json:
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
