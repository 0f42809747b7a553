"""`/api/memories`: add, search, list, delete, history."""

from typing import Annotated

from fastapi import Depends, Header, Query, Request

from mnemoir.core.ids import MemoryId
from mnemoir.memory.facts import unknown_memory
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.door.access import principal_of
from mnemoir.server.door.errors import MethodNotAllowed
from mnemoir.server.door.says import says
from mnemoir.server.door.scopes import explicit_user, note_read, only_user, owner, project_in_body
from mnemoir.server.memories.answers import (
    AddAnswer,
    HistoryEvent,
    SearchAnswer,
    Success,
    history_json,
)
from mnemoir.server.memories.bodies import AddBody, SearchBody
from mnemoir.server.memories.list_query import At, instant_of
from mnemoir.server.memories.lists import (
    ListLimit,
    MemoryPage,
    Offset,
    UserQuery,
    page_of,
)
from mnemoir.server.memories.local import add_memories, search_memories
from mnemoir.server.memories.narrowing_query import NarrowingHere
from mnemoir.server.rest import BodyOf, ProjectHere, Routes, SiteHere
from mnemoir.settings.access import COST_OF_INFERENCE

router = Routes(prefix="/api/memories", tags=["memories"])


class HistoryAnswer(JsonObject):
    """The history, oldest event first."""

    results: list[HistoryEvent]


class Deleted(Success):
    """One memory was deleted."""

    message: str
    id: str


class DeletedAll(Success):
    """All memories of a user were deleted."""

    message: str
    deleted: int


@router.post("", summary="Extract memories from messages and store them")
@says("write")
async def add(
    request: Request,
    site: SiteHere,
    project: ProjectHere,
    body: Annotated[AddBody, Depends(BodyOf(AddBody))],
    idempotency_key: Annotated[str | None, Header()] = None,
    x_timezone: Annotated[str | None, Header()] = None,
    include_usage: Annotated[bool, Query()] = False,
) -> Answer[AddAnswer]:
    project = project_in_body(request.scope, project, body.org_id, body.project_id)
    if body.infer is not False:
        key = principal_of(request.scope).key
        await site.guard.rate_limits.take_instead(request.scope, key, "add", COST_OF_INFERENCE)
    return Answer(
        await add_memories(site, project, body, idempotency_key, zone=x_timezone, include_usage=include_usage)
    )


@router.post("/search", summary="Find what bears on a question")
@says("read", bucket="search")
async def search(
    request: Request,
    site: SiteHere,
    project: ProjectHere,
    body: Annotated[SearchBody, Depends(BodyOf(SearchBody))],
    at: At = None,
) -> Answer[SearchAnswer]:
    project = project_in_body(request.scope, project, body.org_id, body.project_id)
    return Answer(await search_memories(site, project, body, instant_of(at, "at")))


@router.delete(
    "",
    summary="Forget all memories of one user and the traces of its runs, or a part of the memories, for good",
)
@says("admin", act="memories.delete_all", slash=True)
async def delete_all(
    site: SiteHere, project: ProjectHere, part: NarrowingHere, user: UserQuery = None
) -> Answer[DeletedAll]:
    scope, forgetting = owner(project, explicit_user(user, "delete"), **part.ids), site.parts.upkeep.forgetting
    if part.is_all:
        deleted = await forgetting.forget_memories(scope)
    else:
        deleted = await forgetting.forget_part(scope, part.metadata)
    site.count("delete")
    return Answer({"success": True, "message": f"Deleted {deleted} memories", "deleted": deleted})


@router.get("/{memory_id:path}/history", summary="What happened to a memory, oldest first")
@says("read")
async def history(
    site: SiteHere, project: ProjectHere, memory_id: str, user: UserQuery = None
) -> Answer[HistoryAnswer]:
    facts, asked = site.parts.memory.facts, only_user(user)
    found = asked or await facts.user_of(project, MemoryId(memory_id))
    if found is not None and asked is None:
        note_read(found)
    entries = [] if found is None else await facts.history(project, MemoryId(memory_id), found)
    if not entries:
        raise unknown_memory(MemoryId(memory_id))
    return Answer[HistoryAnswer]({"results": history_json(entries)})


@router.get("/{user_id:path}", summary="List one user's memories, newest first")
@says("read")
async def list_memories(
    request: Request,
    site: SiteHere,
    project: ProjectHere,
    user_id: str,
    part: NarrowingHere,
    limit: ListLimit = 100,
    offset: Offset = 0,
    at: At = None,
) -> Answer[MemoryPage]:
    if request.scope["raw_path"].endswith((b"/memories/search", b"/memories/merge", b"/memories/recall")):
        raise MethodNotAllowed("GET", ["POST", "OPTIONS"])  # static names come before users
    return await page_of(site, project, user_id, part, limit=limit, offset=offset, at=at)


@router.delete("/{memory_id:path}", summary="Delete one memory, which can be restored")
@says("write", act=None, slash=True)
async def delete(site: SiteHere, project: ProjectHere, memory_id: str, user: UserQuery = None) -> Answer[Deleted]:
    deleted = await site.parts.memory.facts.delete(project, MemoryId(memory_id), only_user(user))
    site.count("delete")
    return Answer({"success": True, "message": "Memory deleted successfully", "id": deleted})
