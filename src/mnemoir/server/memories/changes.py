"""The log of a user's changes, newest first; undo, and plans of changes that are applied later."""

from typing import Annotated

from fastapi import Query
from pydantic import BeforeValidator

from mnemoir.core.ids import ChangeId, PlanId
from mnemoir.core.memories import LoggedChange
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.body import whole_number
from mnemoir.server.cursors import read_cursor, write_cursor
from mnemoir.server.door.says import says
from mnemoir.server.door.scopes import named_user, only_user, owner
from mnemoir.server.memories.answers import AppliedChange, Event, applied_json
from mnemoir.server.memories.lists import UserQuery
from mnemoir.server.rest import Cursor, ProjectHere, Routes, SiteHere

router = Routes(prefix="/api/memories", tags=["memories"])

_LOG = "changes"
_MOST = 200
ChangesLimit = Annotated[int, BeforeValidator(whole_number(50, _MOST)), Query(description="0 means 200")]


class ChangedRow(JsonObject):
    """One memory that a change added, changed or deleted, with its text before and after."""

    event: Event
    memory_id: str
    old_memory: str | None
    new_memory: str | None
    reason: str


class LoggedChangeRecord(JsonObject):
    """One change with its rows. `undo_of` is the change it undid, `undone_by` the one that undid it and holds."""

    id: str
    created_at: str
    rows: list[ChangedRow]
    model: str | None
    session: str | None
    undo_of: str | None
    undone_by: str | None


class Changes(JsonObject):
    """A page of changes, newest first; `next` is the cursor of the following page."""

    results: list[LoggedChangeRecord]
    next: str | None


class UndoAnswer(JsonObject):
    """What an undo changed. `id` is the undo itself, which can be undone too."""

    id: str
    results: list[AppliedChange]


class AppliedPlan(JsonObject):
    """The changes that a plan made, in order."""

    results: list[AppliedChange]


@router.get("/changes", summary="What changed in one user's memories, newest first")
@says("read")
async def changes(
    site: SiteHere, project: ProjectHere, user: UserQuery = None, limit: ChangesLimit = 50, cursor: Cursor = None
) -> Answer[Changes]:
    scope = owner(project, named_user(user, "list"))
    of = f"{_LOG} of {site.parts.memory.database.kind}"  # whose numbers are places of this list
    before = None if cursor is None else int(read_cursor(cursor, of, int)[0])
    page = await site.parts.memory.facts.undoing.changes(scope, limit=limit, before=before)
    return Answer(
        {
            "results": [_change_json(change) for change in page.changes],
            "next": None if page.next is None else write_cursor(of, page.next),
        }
    )


@router.post("/changes/{change_id}/undo", summary="Undo one change; an undo can be undone too")
@says("write", exact=True)
async def undo(site: SiteHere, project: ProjectHere, change_id: str, user: UserQuery = None) -> Answer[UndoAnswer]:
    undone = await site.parts.memory.facts.undoing.undo(project, ChangeId(change_id), only_user(user))
    site.count("undo")
    return Answer({"id": undone.id, "results": [applied_json(change) for change in undone.applied]})


@router.post("/plans/{plan_id}/apply", summary="Make the changes that a dry run planned, unchanged or not at all")
@says("write", exact=True)
async def apply(site: SiteHere, project: ProjectHere, plan_id: str, user: UserQuery = None) -> Answer[AppliedPlan]:
    applied = await site.parts.memory.facts.plans.apply(project, PlanId(plan_id), only_user(user))
    site.count("apply")
    return Answer({"results": [applied_json(change) for change in applied]})


def _change_json(change: LoggedChange) -> LoggedChangeRecord:
    return {
        "id": change.id,
        "created_at": change.at,
        "rows": [
            {
                "event": row.event,
                "memory_id": row.memory_id,
                "old_memory": row.old_text,
                "new_memory": row.new_text,
                "reason": row.reason,
            }
            for row in change.rows
        ],
        "model": change.model,
        "session": change.session,
        "undo_of": change.undo_of,
        "undone_by": change.undone_by,
    }
