"""`POST /api/memories/recall`: what a chat would be given for a question, by the chat's own search and bounds."""

from typing import Annotated

from fastapi import Depends, Request

from mnemoir.core.scope import NOWHERE
from mnemoir.core.text import RecalledLine, one_line, tokens_of
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.door.says import says
from mnemoir.server.door.scopes import owner
from mnemoir.server.memories.bodies import RecallBody
from mnemoir.server.rest import BodyOf, ProjectHere, Routes, SiteHere
from mnemoir.workflows.nodes.recall_search import FirstRecall, recall_for_new_chat

router = Routes(prefix="/api/memories", tags=["memories"])


class WouldBeRecalled(JsonObject):
    """A line as a prompt has it, with about how many tokens it has there.

    `id` is that of the memory, None for what was said and is not learned from yet. `day` is "" where none is known.
    """

    id: str | None
    memory: str
    day: str
    fits: bool
    tokens: int


class RecallPreview(JsonObject):
    """The lines, those that fit first and of these the best, and their tokens in all, of which `max_tokens` may be.

    Without `memory_enabled`, the project has switched memory off, and a chat is given nothing. `degraded` names what
    was missing in the search, "" for nothing.
    """

    results: list[WouldBeRecalled]
    tokens: int
    max_tokens: int
    memory_enabled: bool
    degraded: str


@router.post("/recall", summary="What a new chat would be given for a question; nothing is stored or counted")
@says("read", bucket="search")
async def recall(
    request: Request, site: SiteHere, project: ProjectHere, body: Annotated[RecallBody, Depends(BodyOf(RecallBody))]
) -> Answer[RecallPreview]:
    scope, parts = owner(project, body.user_id), site.parts
    if scope.tenant == NOWHERE and not parts.serves_its_own_memory:  # the other server knows no tenants
        return Answer(_preview(FirstRecall(limits=await parts.chats.memory.allowance(scope))))
    credential = site.credential_for_memory(request.scope)
    recalled = await recall_for_new_chat(parts.chats.memory, scope, body.query, credential=credential)
    return Answer(_preview(recalled))


def _preview(recalled: FirstRecall) -> RecallPreview:
    return {
        "results": [_line(line) for line in recalled.lines],
        "tokens": sum(map(tokens_of, recalled.lines)),
        "max_tokens": 0 if recalled.limits is None else recalled.limits.tokens,
        "memory_enabled": recalled.limits is not None,
        "degraded": recalled.degraded,
    }


def _line(line: RecalledLine) -> WouldBeRecalled:
    return {
        "id": line.id or None,
        "memory": one_line(line.text_with_origin),
        "day": line.day,
        "fits": line.fits,
        "tokens": tokens_of(line),
    }
