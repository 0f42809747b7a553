"""`GET /api/memories/{user_id}/timeline`: when what is remembered of a user was learned, counted by week."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from mnemoir.core.memories import Origin
from mnemoir.ports.memory_store import WeekCount
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.door.says import says
from mnemoir.server.door.scopes import owner
from mnemoir.server.memories.list_query import ConditionsHere
from mnemoir.server.rest import ProjectHere, Routes, SiteHere

router = Routes(prefix="/api/memories", tags=["memories"])

_FIRST_MONDAY = datetime(1970, 1, 5, tzinfo=UTC)


class Week(JsonObject):
    """One week, which begins on the Monday `week` (UTC).

    `learned` counts the memories first stored in it by origin, `changed` those whose last change was in it.
    """

    week: str
    learned: dict[Origin, int]
    changed: int


class Timeline(JsonObject):
    """The weeks in which something was learned or last changed, oldest first. `undated` memories name no time."""

    weeks: list[Week]
    total: int
    undated: int


@router.get("/{user_id:path}/timeline", summary="How many of one user's memories are of each week, by origin")
@says("read")
async def timeline(
    site: SiteHere, project: ProjectHere, user_id: str, conditions: ConditionsHere
) -> Answer[Timeline]:
    scope = owner(project, user_id, **conditions.part.ids)
    wanted = await conditions.filter_of(site, scope, "created", ascending=False)
    site.count("list")
    return Answer(_timeline(await site.parts.memory.store.weeks(scope, wanted)))


def _timeline(counts: Iterable[WeekCount]) -> Timeline:
    learned: dict[int, Counter[Origin]] = defaultdict(Counter)
    changed, undated, total = Counter[int](), 0, 0
    for count in counts:
        total += count.memories
        if count.learned is None:
            undated += count.memories
        else:
            learned[count.learned][count.origin] += count.memories
        if count.changed is not None:
            changed[count.changed] += count.memories
    weeks: list[Week] = [
        {
            "week": (_FIRST_MONDAY + timedelta(weeks=week)).date().isoformat(),
            "learned": dict(learned.get(week, {})),
            "changed": changed[week],
        }
        for week in sorted({*learned, *changed})
    ]
    return {"weeks": weeks, "total": total, "undated": undated}
