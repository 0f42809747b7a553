"""`/api/files`: a user's files in a project: those that store the project, and those sent in all conversations."""

import asyncio
from typing import Annotated
from urllib.parse import quote

from fastapi import Query
from pydantic import BeforeValidator, Field
from starlette.responses import Response

from mnemoir.conversations.attachments.attachments import SentFile, sent_files
from mnemoir.conversations.users import OwnConversations
from mnemoir.core.clock import to_text
from mnemoir.core.errors import NotFound
from mnemoir.ports.project_settings import ProjectFile
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.body import LARGEST_ID, whole_number
from mnemoir.server.conversations.access import CONVERSATIONS, OwnerHere, open_conversations
from mnemoir.server.cursors import InvalidCursor, read_cursor, write_cursor
from mnemoir.server.door.says import says
from mnemoir.server.rest import Cursor, Routes, SiteHere

_FILES = "/api/files"

router = Routes(prefix=_FILES, tags=["files"])

INERT = {
    "content-security-policy": "sandbox; default-src 'none'",
}
_MOST_LISTED = 200
_LIST = "attachments"

Limit = Annotated[
    int,
    BeforeValidator(whole_number(50, _MOST_LISTED)),
    Query(description=f"messages with files on a page; 0 means {_MOST_LISTED}"),
]


class AttachmentAnswer(JsonObject):
    """A file that was sent with a message."""

    name: str
    filename: Annotated[str | None, Field(description="as its sender calls it")]
    link: Annotated[str, Field(description="the path of its bytes on this server")]
    mime_type: Annotated[str, Field(description="as its bytes tell")]
    bytes: int
    conversation_id: str
    message_id: int
    created_at: str | None


class AttachmentsAnswer(JsonObject):
    """`GET /api/conversations/{id}/attachments`, newest first."""

    results: list[AttachmentAnswer]
    next: str | None


class ProjectFileAnswer(JsonObject):
    """A file that stores the project, as far as it belongs to this user."""

    name: str
    link: str
    mime_type: str
    bytes: int
    modified_at: str


class FilesAnswer(JsonObject):
    """`GET /api/files`. `project` comes with the first page, and is empty where projects are not stored in files."""

    project: list[ProjectFileAnswer]
    attachments: list[AttachmentAnswer]
    next: str | None


@router.get("", summary="A user's files in a project, the newest attachments first")
@says("read")
async def list_files(
    site: SiteHere, scope: OwnerHere, limit: Limit = 50, cursor: Cursor = None
) -> Answer[FilesAnswer]:
    before = message_before(cursor)
    kept = site.parts.memory.project_files if cursor is None else None
    project = [] if kept is None else await kept.all(scope)
    async with open_conversations(site, scope) as own:
        page = ([], None) if own is None else await asyncio.to_thread(attachments_page, own, limit, before)
    return Answer(
        {
            "project": [project_file_json(file) for file in project],
            "attachments": [attachment_json(file) for file in page[0]],
            "next": page[1],
        }
    )


@router.get(
    "/{name:path}",
    summary="A file that the project is kept in, as far as it is this user's",
    response_class=Response,
    responses={200: {"content": {"application/json": {}, "text/markdown": {}}, "description": "The file"}},
)
@says("read")
async def project_file(site: SiteHere, scope: OwnerHere, name: str) -> Response:
    kept = site.parts.memory.project_files
    found = None if kept is None else await kept.get(scope, name)
    if found is None:
        raise NotFound(
            f"The project {scope.project!r} has no file {name[:80]!r}. GET /api/files lists those it has.",
            code="file_not_found",
        )
    headers = {**INERT, "content-disposition": f'attachment; filename="{found.name.rpartition("/")[2]}"'}
    return Response(found.content, media_type=found.mime_type, headers=headers)


def message_before(cursor: str | None) -> int | None:
    """The message before which a page begins; None for the first page. Raises InvalidCursor."""
    if cursor is None:
        return None
    (place,) = read_cursor(cursor, _LIST, int)
    if not isinstance(place, int) or not 0 < place <= LARGEST_ID:
        raise InvalidCursor
    return place


def attachments_page(
    own: OwnConversations, limit: int, before: int | None, id: str | None = None
) -> tuple[list[SentFile], str | None]:
    """Files of `limit` messages, in one conversation or in all, and the cursor of the next page. Blocks."""
    found = own.log.messages_with_files(limit + 1, before=before, session_id=id)
    page = found[:limit]
    following = write_cursor(_LIST, page[-1].id) if len(found) > limit else None
    return sent_files(own.node_parts.objects, page), following


def attachment_json(file: SentFile) -> AttachmentAnswer:
    """A file of a message."""
    return {
        "name": file.name,
        "filename": file.filename or None,
        "link": f"{CONVERSATIONS}/{quote(file.session_id, safe='')}/attachments/{file.name}",
        "mime_type": file.mime_type,
        "bytes": file.size_bytes,
        "conversation_id": file.session_id,
        "message_id": file.message_id,
        "created_at": None if file.sent_at is None else to_text(file.sent_at),
    }


def project_file_json(file: ProjectFile) -> ProjectFileAnswer:
    """A file of a project."""
    return {
        "name": file.name,
        "link": f"{_FILES}/{quote(file.name)}",
        "mime_type": file.mime_type,
        "bytes": len(file.content),
        "modified_at": to_text(file.modified_at),
    }
