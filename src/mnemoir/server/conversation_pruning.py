"""`/api/conversations/prune`: the end of conversations that were not used for long."""

import asyncio
from datetime import datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.conversations.sessions import naive_utc
from mnemoir.core.clock import utc_now
from mnemoir.core.errors import NotFound
from mnemoir.core.scope import Scope as Owner
from mnemoir.server.conversation_access import CONVERSATIONS, OwnerHere, opened, owner_in_body
from mnemoir.server.conversation_models import PruneBody, conversation_answer
from mnemoir.server.raw_paths import RouteAsSent
from mnemoir.server.rest import SiteHere, accepts, body_of
from mnemoir.server.site import Site

router = APIRouter(prefix=CONVERSATIONS, tags=["conversations"], route_class=RouteAsSent)


@router.post("/prune", summary="Forget what was not used for so many days", openapi_extra=accepts(PruneBody))
async def prune(
    request: Request, site: SiteHere, scope: OwnerHere, body: Annotated[PruneBody, Depends(body_of(PruneBody))]
) -> Response:
    scope = owner_in_body(request, scope, body.user_id)
    before = naive_utc(utc_now()) - timedelta(days=body.days)
    ids: list[str] = []
    async with opened(site, scope) as own:
        if own is not None:
            ids = await asyncio.to_thread(own.manager.storage.old_sessions, body.days)
            if not body.dry_run:
                ids = [id for id in ids if await _forgotten(site, scope, own.manager, id, before)]
    verb = "Would delete" if body.dry_run else "Deleted"
    return conversation_answer({"success": True, "message": f"{verb} {len(ids)} conversations", "ids": ids})


async def _forgotten(site: Site, scope: Owner, manager: MemoryManager, id: str, before: datetime) -> bool:
    """Whether it was still old when its turn came, and is gone."""
    record = await asyncio.to_thread(manager.get_session, id)
    if record is None or record.updated_at >= before or record.metadata.is_kept:
        return False
    try:
        await site.parts.forgetting.forget(scope, id)
    except NotFound:  # somebody else was quicker
        return False
    return True
