"""`/api/conversations/{id}/attachments/{name}`: the bytes of a file that was sent with a message.

What a file is, its own bytes say, and never its sender. Only pictures are shown in a browser, and nothing in any file
is ever run there: what somebody sent may be made to attack who looks at it.
"""

import asyncio

from fastapi import APIRouter
from starlette.responses import Response

from mnemoir.conversations.attachments import Attachments
from mnemoir.core.errors import NotFound
from mnemoir.server.conversation_access import CONVERSATIONS, ONE, OwnerHere, holding
from mnemoir.server.raw_paths import RouteAsSent
from mnemoir.server.rest import SiteHere

router = APIRouter(prefix=CONVERSATIONS + ONE, tags=["conversations"], route_class=RouteAsSent)

_INERT = {
    "content-security-policy": "sandbox; default-src 'none'",
    "cache-control": "no-store",  # a browser keeps no copy of what may be forgotten
}


@router.get("/attachments/{name}", summary="A file of a message, by the last step of its link")
async def attachment(site: SiteHere, scope: OwnerHere, id: str, name: str) -> Response:
    async with holding(site, scope, id) as own:
        found = await asyncio.to_thread(Attachments(own.node_parts.objects).read, id, name)
    if found is None:
        raise NotFound(f"The conversation {id[:80]!r} has no such attachment.", code="attachment_not_found")
    disposition = "inline" if found.mime_type.startswith("image/") else "attachment"
    headers = {**_INERT, "content-disposition": f'{disposition}; filename="{name}"'}
    return Response(found.content, media_type=found.mime_type, headers=headers)
