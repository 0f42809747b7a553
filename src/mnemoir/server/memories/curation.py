"""Manual changes of memories: edit one, restore a deleted one, find duplicates and merge them."""

from typing import Annotated, NotRequired

from fastapi import Depends, Request

from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import UNCHANGED
from mnemoir.memory.facts import Edit
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.door.access import principal_of
from mnemoir.server.door.says import says
from mnemoir.server.door.scopes import named_user, only_user, owner, refuse_others
from mnemoir.server.memories.answers import (
    AppliedChange,
    MemoryRecord,
    Proposed,
    applied_json,
    memory_json,
    proposed_json,
)
from mnemoir.server.memories.bodies import BatchBody, EditBody, MergeBody, RestoreBody
from mnemoir.server.memories.lists import UserQuery
from mnemoir.server.rest import BodyOf, ProjectHere, Routes, SiteHere

router = Routes(prefix="/api/memories", tags=["memories"])

_MOST_GROUPS = 200


class DuplicateGroup(JsonObject):
    """Facts of nearly the same meaning, the one to keep first; `likeness` (0 to 1) compares each other one to it."""

    memories: list[MemoryRecord]
    likeness: list[float]


class Duplicates(JsonObject):
    """Groups of duplicates, most alike first. `total` counts groups, `compared` the facts that were examined."""

    results: list[DuplicateGroup]
    total: int
    compared: int


class EditAnswer(MemoryRecord):
    """The memory as it is now; `proposed` is there where its new text waits for a review."""

    proposed: NotRequired[list[Proposed]]


class BatchedChange(JsonObject):
    """A change that was made, in the log of a project, and how many memories it concerned."""

    id: str
    project: str
    memories: int


class BatchAnswer(JsonObject):
    """What was done; undoing each of its changes takes all of it back. Without any nothing was to be done."""

    changes: list[BatchedChange]


class MergeAnswer(JsonObject):
    """The applied changes, and the current state of the memory that was kept."""

    results: list[AppliedChange]
    memory: MemoryRecord


@router.get("/duplicates", summary="Groups of facts that say nearly the same")
@says("read")
async def duplicates(site: SiteHere, project: ProjectHere, user: UserQuery = None) -> Answer[Duplicates]:
    scope = owner(project, named_user(user, "compare"))
    groups, compared = await site.parts.memory.facts.duplicates(scope)
    results: list[DuplicateGroup] = [
        {
            "memories": [memory_json(memory) for memory in group.memories],
            "likeness": [round(likeness, 4) for likeness in group.likeness],
        }
        for group in groups[:_MOST_GROUPS]
    ]
    return Answer({"results": results, "total": len(groups), "compared": compared})


@router.post("/merge", summary="Keep one of several memories; the others can be restored")
@says("write", exact=True)
async def merge(
    site: SiteHere, project: ProjectHere, body: Annotated[MergeBody, Depends(BodyOf(MergeBody))]
) -> Answer[MergeAnswer]:
    scope, ids = owner(project, body.user_id), [MemoryId(each) for each in body.ids]
    applied = await site.parts.memory.facts.curation.merge(scope, ids, MemoryId(body.keep), body.memory)
    site.count("merge")
    return Answer(
        {"results": [applied_json(change) for change in applied], "memory": memory_json(applied[-1].memory)}
    )


@router.post("/batch", summary="Tag, expire, move or delete several memories, which can be undone")
@says("write", exact=True)
async def batch(
    request: Request, site: SiteHere, project: ProjectHere, body: Annotated[BatchBody, Depends(BodyOf(BatchBody))]
) -> Answer[BatchAnswer]:
    scope, batches = owner(project, body.user_id), site.parts.memory.facts.batches
    ids = [MemoryId(each) for each in body.ids]
    if body.delete:
        changes = await batches.delete(scope, ids)
    elif body.tags is not None:
        changes = await batches.tag(scope, ids, body.tags.add, body.tags.remove)
    elif body.project is not None:
        refuse_others(principal_of(request.scope), None, body.project)
        changes = await batches.move(scope, ids, body.project)
    else:
        changes = await batches.expire(scope, ids, body.expiration_date)
    site.count("batch")
    return Answer({"changes": [{"id": one.id, "project": one.project, "memories": one.memories} for one in changes]})


@router.post("/{memory_id:path}/restore", summary="Take a deleted memory back, or an earlier text of one")
@says("write", exact=True)
async def restore(
    site: SiteHere,
    project: ProjectHere,
    memory_id: str,
    body: Annotated[RestoreBody, Depends(BodyOf(RestoreBody))],
    user: UserQuery = None,
) -> Answer[MemoryRecord]:
    memory = await site.parts.memory.facts.curation.restore(project, MemoryId(memory_id), only_user(user), body.to)
    site.count("restore")
    return Answer(memory_json(memory))


@router.patch("/{memory_id:path}", summary="Change what a memory says, or its metadata")
@says("write")
async def edit(
    site: SiteHere,
    project: ProjectHere,
    memory_id: str,
    body: Annotated[EditBody, Depends(BodyOf(EditBody))],
    user: UserQuery = None,
) -> Answer[EditAnswer]:
    metadata = body.metadata if "metadata" in body.model_fields_set else UNCHANGED
    wanted = Edit(text=body.memory, metadata=metadata, as_of=body.updated_at, is_told=body.origin == "user")
    edited = await site.parts.memory.facts.curation.edit(project, MemoryId(memory_id), wanted, only_user(user))
    site.count("edit")
    proposed = [proposed_json(one) for one in edited.proposed]
    answer: EditAnswer = {**memory_json(edited.memory), "proposed": proposed}
    if not proposed:
        del answer["proposed"]
    return Answer(answer)
