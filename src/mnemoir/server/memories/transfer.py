"""Memories out and in again, as JSON lines: one memory a line, out with its history.

An export holds what is current, hidden by decay or expiry or not. An import adds; it never changes what is there, and
the same file imported twice is imported once.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime

import orjson
from fastapi import Request
from starlette.responses import Response, StreamingResponse

from mnemoir.core.clock import to_text
from mnemoir.core.errors import InvalidRequest
from mnemoir.core.ids import MemoryId, new_memory_id
from mnemoir.core.memories import Add, Memory, Provenance
from mnemoir.core.scope import Scope as Owner
from mnemoir.ports.embedding import Passage
from mnemoir.ports.memory_store import Project, Visible
from mnemoir.server.access import owner
from mnemoir.server.errors import Invalid
from mnemoir.server.memories.answers import HistoryEvent, MemoryRecord, Success, history_json, memory_json
from mnemoir.server.memories.bodies import ImportedMemory
from mnemoir.server.memories.lists import UserQuery
from mnemoir.server.request import parse_json, read_body
from mnemoir.server.rest import Answer, ProjectHere, Routes, Site, SiteHere, checked

router = Routes(prefix="/api", tags=["transfer"])

MOST_LINES = 10_000
_PAGE = 500
_EVERYTHING = Visible(now=datetime(1, 1, 1, tzinfo=UTC))  # before any expiry, without decay


class ImportAnswer(Success):
    """How many lines were added, and how many were there already."""

    message: str
    imported: int
    skipped: int


class ExportedMemory(MemoryRecord):
    """One line of an export."""

    history: list[HistoryEvent]


@router.get(
    "/export",
    summary="All memories as JSON lines, of one user or of all",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "One memory a line, each as ExportedMemory",
            "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
        }
    },
)
async def export(site: SiteHere, project: ProjectHere, user: UserQuery = None) -> Response:
    scopes = await site.parts.store.users(project) if user is None else [owner(project, user)]
    return StreamingResponse(_lines(site, scopes), media_type="application/x-ndjson")


@router.post(
    "/import",
    summary="Add memories from JSON lines; every line is checked before the first is added",
    openapi_extra={
        "requestBody": {"required": True, "content": {"application/x-ndjson": {"schema": {"type": "string"}}}}
    },
)
async def import_lines(request: Request, site: SiteHere, project: ProjectHere) -> Answer[ImportAnswer]:
    body = await read_body(request.scope, request.receive, site.options.max_body_bytes)
    by_user: dict[str, list[ImportedMemory]] = defaultdict(list)
    for record in _read(body):
        by_user[record.user_id].append(record)
    added = skipped = 0
    for user, records in by_user.items():
        stored = await _add(site, owner(project, user), records)
        added, skipped = added + stored, skipped + len(records) - stored
    return Answer({"success": True, "message": f"Imported {added} memories", "imported": added, "skipped": skipped})


async def _lines(site: Site, scopes: Sequence[Owner]) -> AsyncIterator[bytes]:
    for scope in scopes:
        offset = 0
        while page := await site.parts.store.page(scope, _EVERYTHING, limit=_PAGE, offset=offset):
            lines = []
            for memory in page:
                entries = await site.parts.store.history(scope, memory.id)
                record: ExportedMemory = {**memory_json(memory), "history": history_json(entries)}
                lines.append(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
            yield b"".join(lines)
            offset += len(page)


def _read(body: bytes) -> list[ImportedMemory]:
    lines = [(number, line) for number, line in enumerate(body.splitlines(), start=1) if line.strip()]
    if len(lines) > MOST_LINES:
        raise InvalidRequest(f"The import has {len(lines)} lines. Send at most {MOST_LINES} at a time.")
    records = [_record(number, line) for number, line in lines]
    seen: set[str] = set()
    for (number, _), record in zip(lines, records, strict=True):
        if record.id is not None and record.id in seen:
            raise Invalid([{"loc": ["body", number, "id"], "msg": "is there twice", "type": "value_error"}])
        seen.add(record.id or "")
    return records


def _record(number: int, line: bytes) -> ImportedMemory:
    try:
        raw = parse_json(line)
    except InvalidRequest as exc:
        raise InvalidRequest(f"Line {number}: {exc.message}", code="invalid_json") from None
    return checked(ImportedMemory, raw, "body", number)


async def _add(site: Site, scope: Owner, records: Sequence[ImportedMemory]) -> int:
    """Add one user's records in one step; how many were not there before."""
    # oldest first, so that the order of storing is the order of time
    fresh = [
        memory
        for record in sorted(records, key=lambda record: record.created_at)
        if (memory := await _memory(site, scope, record)) is not None
    ]
    entries = await site.parts.indexing.entries([Passage(text=memory.text) for memory in fresh])
    adds = [Add(memory=memory, entry=entry, reason="import") for memory, entry in zip(fresh, entries, strict=True)]
    return len(await site.parts.store.commit(scope, adds, Provenance(reason="import")))


async def _memory(site: Site, scope: Owner, record: ImportedMemory) -> Memory | None:
    """The memory to add; None when this user has it already. An id that another user has is replaced."""
    memory_id = MemoryId(record.id) if record.id else new_memory_id()
    if record.id:
        holder = await site.parts.store.locate(Project(tenant=scope.tenant, project=scope.project), memory_id)
        if holder is not None and holder.user == scope.user:
            return None
        memory_id = memory_id if holder is None else new_memory_id()
    return Memory(
        id=memory_id,
        text=record.memory,
        user=scope.user,
        created_at=to_text(record.created_at),
        updated_at=to_text(record.updated_at or record.created_at),
        metadata=record.metadata,
        kind="fact" if record.role is None else "message",
        agent=record.agent_id,
        app=record.app_id,
        conversation=record.run_id,
        role=record.role,
        speaker=record.name,
        expires_on=record.expiration_date,
    )
