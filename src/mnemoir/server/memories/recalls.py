"""`GET /api/memories/{memory_id}/recalls`: the answers that a memory was given to, as traces of runs tell it."""

from typing import Annotated

from fastapi import Query

from mnemoir.core.ids import MemoryId
from mnemoir.core.runs import RunStatus
from mnemoir.memory.facts import unknown_memory
from mnemoir.ports.run_store import RunFilter
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.door.says import says
from mnemoir.server.door.scopes import named_user, owner
from mnemoir.server.rest import ProjectHere, Routes, SiteHere

router = Routes(prefix="/api/memories", tags=["memories"])

_LOOKED_AT = 100  # each is a trace to be read


class Recall(JsonObject):
    """A run that read the memory; `question` is what its user asked, "" where that is not kept."""

    run_id: str
    at: str
    question: str
    conversation: str | None
    status: RunStatus


class Recalls(JsonObject):
    """The runs that read the memory, newest first, among the newest `looked_at` runs of its user in the project."""

    results: list[Recall]
    looked_at: int


@router.get("/{memory_id:path}/recalls", summary="The last answers that a memory was given to")
@says("read")
async def recalls(
    site: SiteHere,
    project: ProjectHere,
    memory_id: str,
    user: Annotated[str | None, Query(alias="user_id")] = None,
) -> Answer[Recalls]:
    scope, wanted = owner(project, named_user(user, "look at")), MemoryId(memory_id)
    if await site.parts.memory.store.get(scope, wanted) is None:
        raise unknown_memory(wanted)
    runs = site.parts.trees.runs
    only = RunFilter(tenant=scope.tenant, projects=(scope.project,), user_id=scope.user)
    latest = await runs.latest(limit=_LOOKED_AT, before=None, only=only)
    results: list[Recall] = []
    for run in latest:
        trace = await runs.get(run.id) if run.memories else None
        if trace is not None and any(memory.id == wanted for node in trace.nodes() for memory in node.memories):
            results.append(
                {
                    "run_id": run.id,
                    "at": run.started_at,
                    "question": run.question or "",
                    "conversation": run.conversation,
                    "status": run.status,
                }
            )
    return Answer({"results": results, "looked_at": len(latest)})
