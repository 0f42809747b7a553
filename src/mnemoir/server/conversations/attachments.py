"""`/api/conversations/{id}/attachments`: the files that were sent with messages: a list, and the bytes of one.

The type of a file is read from its own bytes, never from its sender. A browser shows pictures only and runs nothing
in any file, because a sent file may be made to attack the person who opens it.
"""

import asyncio

from starlette.responses import Response

from mnemoir.conversations.attachments.attachments import Attachments
from mnemoir.core.errors import NotFound
from mnemoir.server.answer import Answer
from mnemoir.server.conversations.access import CONVERSATIONS, ONE, OwnerHere, holding
from mnemoir.server.conversations.files import (
    INERT,
    AttachmentsAnswer,
    Limit,
    attachment_json,
    attachments_page,
    message_before,
)
from mnemoir.server.door.rest_routes import RouteAsSent
from mnemoir.server.door.says import says
from mnemoir.server.rest import Cursor, Routes, SiteHere

router = Routes(prefix=CONVERSATIONS + ONE, tags=["conversations"], route_class=RouteAsSent)


@router.get("/attachments", summary="The files of all its messages, newest first")
@says("read")
async def attachments(
    site: SiteHere, scope: OwnerHere, id: str, limit: Limit = 50, cursor: Cursor = None
) -> Answer[AttachmentsAnswer]:
    before = message_before(cursor)
    async with holding(site, scope, id) as own:
        files, following = await asyncio.to_thread(attachments_page, own, limit, before, id)
    return Answer({"results": [attachment_json(file) for file in files], "next": following})


@router.get(
    "/attachments/{name}",
    summary="A file of a message, by the last step of its link",
    response_class=Response,
    responses={200: {"content": {"*/*": {}}, "description": "Its bytes"}},
)
@says("read")
async def attachment(site: SiteHere, scope: OwnerHere, id: str, name: str) -> Response:
    async with holding(site, scope, id) as own:
        found = await asyncio.to_thread(Attachments(own.node_parts.objects).read, id, name)
    if found is None:
        raise NotFound(f"The conversation {id[:80]!r} has no such attachment.", code="attachment_not_found")
    disposition = "inline" if found.mime_type.startswith("image/") else "attachment"
    headers = {**INERT, "content-disposition": f'{disposition}; filename="{name}"'}
    return Response(found.content, media_type=found.mime_type, headers=headers)
