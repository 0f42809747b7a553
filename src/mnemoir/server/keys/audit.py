"""`GET /api/audit`: the audit log. Operators read all of it, admins that of their tenant, bound ones their own."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Annotated

from fastapi import Query, Request
from pydantic import BeforeValidator

from mnemoir.core.audit import AuditEntry
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.body import whole_number
from mnemoir.server.cursors import InvalidCursor, read_cursor, write_cursor
from mnemoir.server.door.access import principal_of
from mnemoir.server.door.says import says
from mnemoir.server.rest import Cursor, Routes, SiteHere

router = Routes(prefix="/api/audit", tags=["keys"])

_LIST = "audit"
_MOST_LISTED = 1000

Limit = Annotated[int, BeforeValidator(whole_number(100, _MOST_LISTED)), Query(description=f"0 means {_MOST_LISTED}")]
Action = Annotated[str | None, Query(description="one action alone, such as `keys.create`")]
Actor = Annotated[str | None, Query(description="acts of one key or person alone, such as `user:anna`")]
Day = Annotated[date | None, Query(description="entries of one day alone, in UTC")]


class AuditRecord(JsonObject):
    """An entry. An act that goes on for some time is `begun`, and a later entry, with its number as `of`, has the
    result: an HTTP status. `count` is how often the same happened: was refused within seconds, or read in an hour.
    `user` is whose data it is about, "" for nobody's, and `erased:` with a digest for one who was erased."""

    number: int
    at: str
    tenant: str
    actor: str
    action: str
    target: str
    user: str
    result: str
    request_id: str
    address: str
    of: int | None
    count: int


class AuditPage(JsonObject):
    """Entries, newest first; `next` is the cursor of the following page.

    The log holds ids of people who sign in: `people` has the names of those that are still here."""

    results: Sequence[AuditRecord]
    people: Mapping[str, str]
    next: str | None


@router.get("", summary="What was done with keys, settings and all of somebody's data, newest first")
@says("manage")
async def list_entries(
    request: Request,
    site: SiteHere,
    limit: Limit = 100,
    cursor: Cursor = None,
    action: Action = None,
    actor: Actor = None,
    day: Day = None,
) -> Answer[AuditPage]:
    caller = principal_of(request.scope)
    if site.parts.access.file.existing() is None:
        return Answer({"results": [], "people": {}, "next": None})
    tenant = None if caller.may("operator") else caller.tenant
    users = site.parts.access.users
    actor = None if actor is None else await asyncio.to_thread(users.key_of, actor)
    if not caller.manages_tenant:
        if actor not in (None, caller.key):
            return Answer({"results": [], "people": {}, "next": None})
        actor = caller.key
    before = None if cursor is None else read_cursor(cursor, _LIST, int)[0]
    if isinstance(before, str):
        raise InvalidCursor
    found = await site.parts.access.audit.newest(
        tenant, limit=limit + 1, before=before, action=action, actor=actor, day=day
    )
    page = found[:limit]
    following = write_cursor(_LIST, page[-1].number) if len(found) > limit else None
    people = await asyncio.to_thread(users.names, set().union(*(entry.people for entry in page)))
    return Answer({"results": [entry_json(entry) for entry in page], "people": people, "next": following})


def entry_json(entry: AuditEntry) -> AuditRecord:
    """The record of an entry, without its chain."""
    return {
        "number": entry.number,
        "at": entry.at,
        "tenant": entry.tenant,
        "actor": entry.actor,
        "action": entry.action,
        "target": entry.target,
        "user": entry.about,
        "result": entry.result,
        "request_id": entry.request_id,
        "address": entry.address,
        "of": entry.of,
        "count": entry.count,
    }
