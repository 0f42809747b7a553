"""`/api/sample`: a memory to look at, of a user of its own, which goes again as a whole."""

from typing import Literal

from mnemoir.chats.import_policy import IMPORTS
from mnemoir.chats.sample import SAMPLE_USER, is_left_of_sample, is_sample_there, store_sample
from mnemoir.core.clock import utc_now
from mnemoir.core.errors import Conflict, NotFound
from mnemoir.core.scope import Scope
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.door.says import says
from mnemoir.server.door.scopes import owner
from mnemoir.server.rest import ProjectHere, Routes, SiteHere
from mnemoir.server.site import Site
from mnemoir.upkeep.subjects import Erased, Person

router = Routes(prefix="/api/sample", tags=["memories"])


class SampleState(JsonObject):
    """How it stands with the sample of a project: `taken` where a user of its name has data of their own there."""

    user_id: str
    state: Literal["none", "there", "taken"]


class StoredSample(JsonObject):
    """How much the sample has."""

    user_id: str
    memories: int
    chats: int


class RemovedSample(JsonObject):
    """How much of the sample was erased, by kind; nothing of it can be restored."""

    user_id: str
    counts: dict[str, int]


@router.get("", summary="Whether the sample memory is there")
@says("read")
async def show(site: SiteHere, project: ProjectHere) -> Answer[SampleState]:
    return Answer({"user_id": SAMPLE_USER, "state": await _state(site, owner(project, SAMPLE_USER))})


@router.post("", summary="Store a sample memory, of a user that has nothing else")
@says("admin", act="sample.store", exact=True)
async def store(site: SiteHere, project: ProjectHere) -> Answer[StoredSample]:
    scope, parts = owner(project, SAMPLE_USER), site.parts
    async with parts.chats.conversations.deciding(scope, IMPORTS):
        state = await _state(site, scope)
        if state == "there":
            raise Conflict("The sample memory is there. Remove it first to have it anew.", code="sample_there")
        if state == "taken":
            raise Conflict(
                f"The sample memory is that of a user {SAMPLE_USER!r}, but one has data in the project "
                f"{scope.project!r}. Nothing was stored. Name another project.",
                code="sample_taken",
            )
        try:
            stored = await store_sample(
                scope,
                conversations=parts.chats.conversations,
                imports=parts.chats.imports,
                store=parts.memory.store,
                proposals=parts.memory.proposals,
                indexing=parts.memory.indexing,
                now=utc_now(),
            )
        except Exception:  # a quota, or a disk that is full: what was stored by then goes again
            await _erase(site, scope)
            raise
    return Answer({"user_id": SAMPLE_USER, "memories": stored.memories, "chats": stored.chats})


@router.delete("", summary="Remove the sample memory, with all that was said to it; nothing brings it back")
@says("admin", act="sample.remove")
async def remove(site: SiteHere, project: ProjectHere) -> Answer[RemovedSample]:
    scope = owner(project, SAMPLE_USER)
    if await _state(site, scope) != "there":
        raise NotFound(
            "There is no sample memory here, so nothing was removed. Store one by POST /api/sample.",
            code="sample_not_found",
        )
    erased = await _erase(site, scope)
    return Answer({"user_id": SAMPLE_USER, "counts": dict(erased.counts)})


async def _erase(site: Site, scope: Scope) -> Erased:
    """Erase all that the user has in the project."""
    person = Person(tenant=scope.tenant, user=scope.user, projects=[scope.project])
    return await site.parts.upkeep.subjects.erase(person)


async def _state(site: Site, scope: Scope) -> Literal["none", "there", "taken"]:
    """How it stands; what a removal that was cut has left is there until it is removed again."""
    parts = site.parts
    if await is_sample_there(parts.chats.imports, scope):
        return "there"
    if scope.project not in await parts.upkeep.subjects.everybody.projects_of(scope.tenant, scope.user):
        return "none"
    is_left = await is_left_of_sample(scope, parts.chats.conversations, parts.memory.store, utc_now())
    return "there" if is_left else "taken"
