"""`/api/subjects/{user_id}`: an archive of everything stored of a person, and its erasure."""

import asyncio
from collections.abc import Sequence

from fastapi import Request
from starlette.responses import Response, StreamingResponse

from mnemoir.access.leaving import left_by
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.door.access import principal_of
from mnemoir.server.door.rest_routes import RouteAsSent
from mnemoir.server.door.says import says
from mnemoir.server.keys.records import LiveKey
from mnemoir.server.rest import Routes, SiteHere
from mnemoir.server.sign_in.users import left_json
from mnemoir.server.subjects.whose import PersonHere
from mnemoir.upkeep.subjects import pieces_of

router = Routes(prefix="/api/subjects", tags=["subjects"], route_class=RouteAsSent)


class BackupHolding(JsonObject):
    """A backup that still holds the person. `ends_at` is null where `retention.backups_days` is not set.

    `path` is for callers who may see the whole server, null for others.
    """

    made_at: str
    path: str | None
    keep: int | None
    ends_at: str | None


class Erasure(JsonObject):
    """What was erased, by kind; `projects` are those in which there was anything.

    `live_keys` are keys that go on: whoever signed in as the person made them, also by keys made so, for others.
    """

    user_id: str
    tenant: str
    projects: Sequence[str]
    counts: dict[str, int]
    backups: list[BackupHolding]
    live_keys: list[LiveKey]


@router.post(
    "/{user_id}/export",
    summary="Everything stored of a person, as one zip archive of JSON lines and files",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "The archive; `about.json` in it names its files",
            "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
@says("admin", act="subjects.export", about="user_id", exact=True)
async def export(site: SiteHere, person: PersonHere) -> Response:
    archive = await site.parts.upkeep.subjects.export(person)
    headers = {"content-disposition": 'attachment; filename="subject.zip"'}
    return StreamingResponse(pieces_of(archive), media_type="application/zip", headers=headers)


@router.post("/{user_id}/erase", summary="Erase everything of a person; nothing of it can be restored")
@says("admin", act="subjects.erase", about="user_id", exact=True)
async def erase(request: Request, site: SiteHere, person: PersonHere) -> Answer[Erasure]:
    caller, access = principal_of(request.scope), site.parts.access
    people = await asyncio.to_thread(access.users.of_memory, person.tenant, person.user)
    removed = await asyncio.to_thread(access.users.removed_from, person.tenant, person.user)
    erased = await site.parts.upkeep.subjects.erase(person)
    owners = (people, removed) if person.projects is None else ((), ())
    left = await asyncio.to_thread(left_by, owners[0], access.users, access.api_keys, owners[1])
    keys, _ = left_json(left, caller)
    backups: list[BackupHolding] = [
        {
            "made_at": one.made_at,
            "path": one.path if caller.sees_server else None,
            "keep": one.keep,
            "ends_at": one.ends_at,
        }
        for one in erased.backups
    ]
    return Answer(
        {
            "user_id": person.user,
            "tenant": person.tenant,
            "projects": erased.projects,
            "counts": dict(erased.counts),
            "backups": backups,
            "live_keys": keys,
        }
    )
