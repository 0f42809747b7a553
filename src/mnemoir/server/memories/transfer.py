"""Export and import of memories as JSON lines: one memory a line, exported with its history.

An export holds all current memories, also those hidden by decay or expiry. An import only adds; it changes no memory,
and the same file imported twice is stored once. A line of another kind than a fact names it as its `kind`.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Annotated, Any, NotRequired

import orjson
from fastapi import Query, Request
from starlette.responses import Response, StreamingResponse

from mnemoir.core.clock import to_text
from mnemoir.core.errors import InvalidRequest
from mnemoir.core.ids import MemoryId, new_change_id
from mnemoir.core.memories import Memory, size_of_metadata
from mnemoir.core.proposals import Proposal
from mnemoir.core.scope import Scope, entity_name
from mnemoir.core.text import size_of
from mnemoir.memory.facts.extract.requests import TextBound
from mnemoir.memory.facts.holding import FACT, FactExchange, ToldMemory
from mnemoir.memory.facts.review.proposal_holding import PROPOSAL
from mnemoir.memory.foreign import MemoryFormat, Told, read_memories
from mnemoir.ports.holdings import Exchange
from mnemoir.ports.memory_store import Project
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.body import validated_body
from mnemoir.server.door.errors import Invalid
from mnemoir.server.door.request import parse_json, read_body
from mnemoir.server.door.says import says
from mnemoir.server.door.scopes import bound_user, note_read, owner
from mnemoir.server.memories.answers import (
    AppliedChange,
    HistoryEvent,
    MemoryRecord,
    Success,
    history_json,
    memory_json,
    plan_json,
)
from mnemoir.server.memories.import_lines import ImportedMemory, ImportedProposal
from mnemoir.server.memories.lists import UserQuery
from mnemoir.server.memories.narrowing import Narrowing
from mnemoir.server.memories.narrowing_query import NarrowingHere
from mnemoir.server.memories.proposals import exported_json
from mnemoir.server.rest import ProjectHere, Routes, SiteHere
from mnemoir.server.site import Site

router = Routes(prefix="/api", tags=["transfer"])

MOST_LINES = 10_000

_Line = tuple[str, str, Any]  # the kind, the user, the record
_NumberedLine = tuple[int, _Line]


class ImportPlan(JsonObject):
    """What an import would add for one user; `plan_id` applies it, null without anything."""

    user_id: str
    plan_id: str | None
    results: list[AppliedChange]


class LongLine(JsonObject):
    """A line of an import whose text or metadata are too long: its number from 1, its id if any, and their bytes."""

    line: int
    id: str | None
    size_bytes: int


class StoredImport(JsonObject):
    """What an import added for one user; by its id it is undone."""

    user_id: str
    import_id: str


class ImportAnswer(Success):
    """The number of lines that were added, and of those that were not; with `dry_run`, would be.

    Skipped are lines that existed already, and those of `too_long`. `format` is what the file was read as; `left_out`
    counts by kind what a file of another program held and memories have no place for.
    """

    message: str
    imported: int
    skipped: int
    format: str
    imports: NotRequired[list[StoredImport]]
    too_long: NotRequired[Sequence[LongLine]]
    left_out: NotRequired[Mapping[str, int]]
    plans: NotRequired[list[ImportPlan]]


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
@says("read", act="memories.export", exact=True)
async def export(site: SiteHere, project: ProjectHere, part: NarrowingHere, user: UserQuery = None) -> Response:
    exchanges, named = _exchanges(site), bound_user() if user is None else user
    owners = [  # looked up before the answer begins, so that a failure gets an error status
        (kind, scope)
        for kind, exchange in exchanges.items()
        for scope in (await exchange.users(project) if named is None else [owner(project, named)])
    ]
    for user in {scope.user for _, scope in owners}:
        note_read(user)
    return StreamingResponse(_lines(exchanges, owners, part), media_type="application/x-ndjson")


@router.post(
    "/import",
    summary="Add memories from JSON lines, or of another program; all are checked before the first is added",
    openapi_extra={
        "requestBody": {"required": True, "content": {"application/x-ndjson": {"schema": {"type": "string"}}}}
    },
)
@says("admin", act="memories.import", exact=True, reads_body=True)
async def import_lines(
    request: Request,
    site: SiteHere,
    project: ProjectHere,
    user: UserQuery = None,
    format: MemoryFormat = "auto",
    dry_run: Annotated[bool, Query(description="say what would be added, and add nothing")] = False,
) -> Answer[ImportAnswer]:
    body = await read_body(request.scope, request.receive, site.options.max_body_bytes)
    exchanges, lines = _exchanges(site), defaultdict[tuple[str, str], list[Any]](list)
    file = read_memories(body, format)
    program, lined = file.program, _of_user(file.text, file.memories, user)
    read, too_long = _without_long(_read(lined, exchanges), site.parts.memory.facts.text_bound)
    for kind, user, record in read:
        lines[kind, user].append(record)
    if dry_run:
        planned = await _plan_import(exchanges, project, program, lines)
        return Answer(_with_rest(planned, too_long, file.left_out))
    owners = {user: owner(project, user) for _, user in lines}  # before the first is added
    added = skipped = 0
    imports: list[StoredImport] = []
    for (kind, user), records in lines.items():
        exchange, change = exchanges[kind], new_change_id()
        if isinstance(exchange, FactExchange):
            stored = await exchange.add(owners[user], records, change)
            if stored:
                noted = await site.parts.chats.imports.note_memories(owners[user], program, stored, change)
                imports.append({"user_id": user, "import_id": noted})
        else:
            stored = await exchange.add(owners[user], records)
        added, skipped = added + stored, skipped + len(records) - stored
    answer: ImportAnswer = {
        "success": True,
        "message": f"Imported {added} memories",
        "imported": added,
        "skipped": skipped,
        "format": program,
        "imports": imports,
    }
    return Answer(_with_rest(answer, too_long, file.left_out))


async def _plan_import(
    exchanges: dict[str, Exchange], project: Project, program: str, lines: Mapping[tuple[str, str], Sequence[Any]]
) -> ImportAnswer:
    plans: list[ImportPlan] = []
    count = 0
    for (kind, user), records in lines.items():
        found = await exchanges[kind].rehearse(owner(project, user), records)
        if kind == FACT:
            plans.append({"user_id": user, "plan_id": found.plan_id, "results": plan_json(found.applied)})
        count += len(found.applied) + found.others
    total = sum(map(len, lines.values()))
    message = f"Nothing was stored; {count} memories would be added"
    return {
        "success": True,
        "message": message,
        "imported": count,
        "skipped": total - count,
        "format": program,
        "plans": plans,
    }


def _without_long(lines: Sequence[_NumberedLine], bound: TextBound) -> tuple[list[_Line], list[LongLine]]:
    """The lines whose text and metadata may come in, and the others."""
    kept: list[_Line] = []
    too_long: list[LongLine] = []
    for number, line in lines:
        record = line[2].memory if isinstance(line[2], Proposal) else line[2]
        if isinstance(record, Memory) and not bound.holds_memory(record):
            size_bytes = size_of(record.text) + size_of_metadata(record.metadata)
            too_long.append({"line": number, "id": record.id or None, "size_bytes": size_bytes})
        else:
            kept.append(line)
    return kept, too_long


def _with_rest(answer: ImportAnswer, too_long: Sequence[LongLine], left_out: Mapping[str, int]) -> ImportAnswer:
    """The answer with what does not come in, where there is any."""
    told: ImportAnswer = {**answer, "left_out": left_out} if left_out else answer
    return {**told, "skipped": told["skipped"] + len(too_long), "too_long": too_long} if too_long else told


def _exchanges(site: Site) -> dict[str, Exchange]:
    return {one.name: one.exchange for one in site.parts.upkeep.holdings if one.exchange is not None}


async def _lines(
    exchanges: dict[str, Exchange], owners: Sequence[tuple[str, Scope]], part: Narrowing
) -> AsyncIterator[bytes]:
    for kind, scope in owners:
        async for page in exchanges[kind].pages(scope):
            told = (_line(kind, record) for record in page if part.is_all or _is_of(part, record))
            yield b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in told)


def _is_of(part: Narrowing, record: Any) -> bool:
    """Whether a record is a memory of the part, or proposes one."""
    return isinstance(record, (ToldMemory, Proposal)) and part.holds(record.memory)


def _line(kind: str, record: Any) -> Mapping[str, Any]:
    if isinstance(record, ToldMemory):
        return {**memory_json(record.memory), "origin": record.memory.origin, "history": history_json(record.history)}
    return {**(exported_json(record) if isinstance(record, Proposal) else record), "kind": kind}


def _of_user(body: bytes, foreign: list[Told] | None, user: str | None) -> bytes:
    """The lines of an import, of this user if named. Files of other programs name none that is known here."""
    if foreign is None and user is None:
        return body
    if foreign is not None and user is None:
        raise InvalidRequest(
            "The file does not say whose these memories are. Name the user as user_id.", code="missing_user_id"
        )
    if foreign is None:
        return b"\n".join(_with_user(line, user) for line in body.splitlines())
    return b"\n".join(orjson.dumps({**told, "user_id": user}) for told in foreign)


def _with_user(line: bytes, user: str | None) -> bytes:
    try:
        told = orjson.loads(line)
    except orjson.JSONDecodeError:
        return line  # the reader of lines says what is wrong with it
    return orjson.dumps({**told, "user_id": user}) if isinstance(told, dict) else line


def _read(body: bytes, exchanges: dict[str, Exchange]) -> list[_NumberedLine]:
    lines = [(number, line) for number, line in enumerate(body.splitlines(), start=1) if line.strip()]
    if len(lines) > MOST_LINES:
        raise InvalidRequest(f"The import has {len(lines)} lines. Send at most {MOST_LINES} at a time.")
    read = [_record(number, line, exchanges) for number, line in lines]
    seen: set[str] = set()
    for (number, _), (kind, _, record) in zip(lines, read, strict=True):
        if kind == FACT and record.id and record.id in seen:
            raise Invalid([{"loc": ["body", number, "id"], "msg": "is there twice", "type": "value_error"}])
        seen.add(record.id if kind == FACT else "")
    return [(number, record) for (number, _), record in zip(lines, read, strict=True)]


def _record(number: int, line: bytes, exchanges: dict[str, Exchange]) -> _Line:
    try:
        raw = parse_json(line)
    except InvalidRequest as exc:
        raise InvalidRequest(f"Line {number}: {exc.message}", code="invalid_json") from None
    kind = raw.get("kind") if isinstance(raw, dict) else None
    if kind == PROPOSAL:
        proposed = validated_body(ImportedProposal, raw, "body", number)
        return PROPOSAL, proposed.user_id, proposed.proposal()
    if isinstance(kind, str) and kind != FACT and kind not in exchanges:
        known = ", ".join(sorted({FACT, PROPOSAL, *exchanges}))
        raise Invalid([{"loc": ["body", number, "kind"], "msg": f"must be one of {known}", "type": "value_error"}])
    if isinstance(raw, dict) and isinstance(kind, str) and kind != FACT:
        return kind, entity_name(raw.get("user_id"), "user_id"), raw
    told = validated_body(ImportedMemory, raw, "body", number)
    return FACT, told.user_id, _memory(told)


def _memory(record: ImportedMemory) -> Memory:
    return Memory(
        id=MemoryId(record.id or ""),
        text=record.memory,
        user=record.user_id,
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
        given_origin=record.kept_origin,
    )
