"""`/api/conversations/prune` and `/node-memory/cleanup`: delete conversations and node memory not used for long.

Facts learned from a pruned conversation stay, since memory outlives conversations. Forgetting deletes them too. While
the clock cannot be trusted nothing is deleted by its age; 0 days are no age.
"""

import asyncio
from typing import Annotated

from fastapi import Depends, Request

from mnemoir.conversations.nodes.cleanup import CORRUPT_COPIES_KEPT_DAYS, Report, cleanup_node_memory
from mnemoir.conversations.users import OwnConversations
from mnemoir.server.answer import Answer, Done
from mnemoir.server.conversations.access import CONVERSATIONS, OwnerHere, open_conversations, owner_in_body
from mnemoir.server.conversations.bodies import CleanupBody, PruneBody
from mnemoir.server.door.rest_routes import RouteAsSent
from mnemoir.server.door.says import says
from mnemoir.server.rest import BodyOf, Routes, SiteHere

router = Routes(prefix=CONVERSATIONS, tags=["conversations"], route_class=RouteAsSent)


class PrunedAnswer(Done):
    """The conversations that were removed, or would be removed in a dry run."""

    ids: list[str]


class CleanupAnswer(Done):
    """The node memories that were removed, or would be in a dry run: the number of objects, and their bytes."""

    deleted: int
    kept: int
    failed: int
    bytes: int


@router.post("/prune", summary="Remove what was not used for so many days")
@says("admin", act="conversations.prune", exact=True)
async def prune(
    request: Request, site: SiteHere, scope: OwnerHere, body: Annotated[PruneBody, Depends(BodyOf(PruneBody))]
) -> Answer[PrunedAnswer]:
    scope = owner_in_body(request, scope, body.user_id)
    await site.parts.upkeep.holds.refuse(scope)
    if body.days and not body.dry_run:
        await site.parts.upkeep.pruning.trust.check()
    ids = await site.parts.chats.conversations.prune_of(scope, body.days, dry_run=body.dry_run)
    verb = "Would delete" if body.dry_run else "Deleted"
    return Answer({"success": True, "message": f"{verb} {len(ids)} conversations", "ids": ids})


@router.post("/node-memory/cleanup", summary="Remove node memories that are old, or whose conversation is gone")
@says("admin", act="node_memory.cleanup", exact=True)
async def cleanup(
    request: Request, site: SiteHere, scope: OwnerHere, body: Annotated[CleanupBody, Depends(BodyOf(CleanupBody))]
) -> Answer[CleanupAnswer]:
    scope = owner_in_body(request, scope, body.user_id)
    await site.parts.upkeep.holds.refuse(scope)
    pruning = site.parts.upkeep.pruning
    if body.older_than_days and not body.dry_run:
        await pruning.trust.check()
    copies_days = CORRUPT_COPIES_KEPT_DAYS if await pruning.trust.decides() else None
    async with open_conversations(site, scope) as own:
        report = Report() if own is None else await asyncio.to_thread(_clean_up, own, body, copies_days)
    verb = "Would delete" if body.dry_run else "Deleted"
    message = f"{verb} {report.deleted} node memories, kept {report.kept}"
    return Answer(
        {
            "success": report.failed == 0,
            "message": message,
            "deleted": report.deleted,
            "kept": report.kept,
            "failed": report.failed,
            "bytes": report.bytes,
        }
    )


def _clean_up(own: OwnConversations, body: CleanupBody, copies_days: float | None) -> Report:
    return cleanup_node_memory(
        own.node_parts.objects,
        body.older_than_days,
        lambda app, conversation: own.log.get_session(conversation) is not None,
        body.dry_run,
        corrupt_copies_kept_days=copies_days,
    )
