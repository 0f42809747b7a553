"""Export and import of conversations.

An export is sent while it is read, so a long conversation takes no more RAM than a short one. An import is
checked completely before its first conversation is stored.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Annotated, Any

from fastapi import Query, Request
from starlette.responses import Response, StreamingResponse

from mnemoir.chats.import_policy import IMPORTS, policy_change
from mnemoir.conversations.attachments.attachments import Attachments
from mnemoir.conversations.transfer import (
    ExportFormat,
    ImportFormat,
    ImportReport,
    OnConflict,
    SkippedSession,
    export_all,
    export_session,
    import_sessions,
)
from mnemoir.conversations.users import OwnConversations
from mnemoir.core.scope import Scope as Owner
from mnemoir.server.answer import Answer, Done
from mnemoir.server.conversations.access import (
    CONVERSATIONS,
    ONE,
    OwnerHere,
    damage_error,
    holding,
    lacking,
    open_conversations,
    room_for,
)
from mnemoir.server.door.request import read_body
from mnemoir.server.door.rest_routes import RouteAsSent
from mnemoir.server.door.says import says
from mnemoir.server.rest import Routes, SiteHere
from mnemoir.server.site import Site

router = Routes(prefix=CONVERSATIONS, tags=["conversations"], route_class=RouteAsSent)

_PIECE_BYTES = 256 * 1024
_MEDIA_TYPES = {
    "jsonl": "application/x-ndjson",
    "json": "application/json",
    "markdown": "text/markdown",
    "chatml": "text/plain",
}
_NAMES = {"jsonl": "jsonl", "json": "json", "markdown": "md", "chatml": "txt"}
_WITH_FILES = ("jsonl", "json")  # the other formats are for human readers
_FILE: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}

DryRun = Annotated[bool, Query(description="only check it")]
Pieces = Callable[[OwnConversations], Iterator[bytes]]


@router.get("/export", summary="All conversations of a user as JSON lines")
@says("read", act="conversations.export", exact=True)
async def export_every(site: SiteHere, scope: OwnerHere) -> Response:
    async with open_conversations(site, scope) as own:
        if own is None:
            return _download(_nothing(), "jsonl")
        await lacking(site, own, nothing=not await asyncio.to_thread(own.log.list_sessions, 1))
    set_aside = site.parts.chats.conversations.set_aside

    def pieces(own: OwnConversations) -> Iterator[bytes]:
        files = Attachments(own.node_parts.objects)
        return export_all(own.manager, attachments=files, set_aside=lambda: set_aside(own.folder))

    return _download(_export_stream(site, scope, pieces), "jsonl")


@router.get(ONE + "/export", summary="One conversation; as JSON with all of its branches, else its thread")
@says("read", act="conversations.export", exact=True)
async def export_one(site: SiteHere, scope: OwnerHere, id: str, format: ExportFormat = "jsonl") -> Response:
    set_aside = site.parts.chats.conversations.set_aside

    def pieces(own: OwnConversations) -> Iterator[bytes]:
        files = Attachments(own.node_parts.objects) if format in _WITH_FILES else None
        before = set_aside(own.folder)
        yield from export_session(own.manager, id, format, attachments=files)
        if (name := set_aside(own.folder)) not in (None, before):
            raise damage_error(name)  # what was sent may lack its end, so the answer has none either

    async with holding(site, scope, id):
        return _download(_export_stream(site, scope, pieces), format)


class ConversationsImported(Done):
    """The conversations an import stored, or would store.

    `skipped` tells why each other one was not: `exists`, `unfinished` (it is from an import that was cut), or a
    sentence. `left_out` counts what the stored ones held and conversations have no place for, such as `thinking`.
    `format` is what the file was read as; by `import_id` the import is learned from and undone, null where nothing
    was stored.
    """

    conversations: int
    messages: int
    skipped: list[SkippedSession]
    left_out: dict[str, int]
    format: str
    import_id: str | None


@router.post("/import", summary="Store conversations from a file, all of it or nothing", openapi_extra=_FILE)
@says("admin", act="conversations.import", exact=True, reads_body=True)
async def import_file(
    request: Request,
    site: SiteHere,
    scope: OwnerHere,
    format: ImportFormat = "auto",
    on_conflict: OnConflict = "skip",
    dry_run: DryRun = False,
) -> Answer[ConversationsImported]:
    data = await read_body(request.scope, request.receive, site.options.max_body_bytes)
    if on_conflict == "replace" and not dry_run:
        await site.parts.upkeep.holds.refuse(scope)

    change = await policy_change(site.parts.memory.personal_data, scope, is_kept=not dry_run)

    def store(own: OwnConversations, *, dry_run: bool) -> ImportReport:
        return import_sessions(
            own.manager,
            data,
            format=format,
            on_conflict=on_conflict,
            dry_run=dry_run,
            user=scope.user,
            attachments=Attachments(own.node_parts.objects),
            change=change,
        )

    # one after the other: of a file that is sent twice at once, the second import finds what the first has stored
    async with (
        site.parts.chats.conversations.deciding(scope, IMPORTS),
        site.parts.chats.conversations.of(scope) as own,
    ):
        is_counted = site.parts.chats.quotas.is_on(scope)
        report = await asyncio.to_thread(store, own, dry_run=dry_run or is_counted)
        if is_counted and not dry_run:
            async with room_for(site, scope, report.messages):
                report = await asyncio.to_thread(store, own, dry_run=False)
        imports = site.parts.chats.imports
        import_id = await imports.note_conversations(scope, own, report)
    verb = "Would import" if dry_run else "Imported"
    return Answer(
        {
            "success": True,
            "message": f"{verb} {report.sessions} conversations with {report.messages} messages",
            "conversations": report.sessions,
            "messages": report.messages,
            "skipped": list(report.skipped),
            "left_out": dict(report.left_out),
            "format": report.format,
            "import_id": import_id,
        }
    )


def _download(pieces: AsyncIterator[bytes], format: ExportFormat) -> Response:
    headers = {"content-disposition": f'attachment; filename="conversations.{_NAMES[format]}"'}
    return StreamingResponse(pieces, media_type=_MEDIA_TYPES[format], headers=headers)


async def _export_stream(site: Site, scope: Owner, pieces_of: Pieces) -> AsyncIterator[bytes]:
    """Stream an export in larger pieces: each is made in a thread, and one switch a line would cost more than it."""
    async with site.parts.chats.conversations.of(scope) as own:
        pieces = pieces_of(own)
        while piece := await asyncio.to_thread(_piece, pieces):
            yield piece


async def _nothing() -> AsyncIterator[bytes]:
    yield b""


def _piece(pieces: Iterator[bytes]) -> bytes:
    """The next bytes; b"" at the end."""
    taken: list[bytes] = []
    size = 0
    for piece in pieces:
        taken.append(piece)
        size += len(piece)
        if size >= _PIECE_BYTES:
            break
    return b"".join(taken)
