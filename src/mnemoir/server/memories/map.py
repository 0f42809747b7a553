"""`GET /api/memories/{user_id}/map`: where a user's memories lie among each other, in groups."""

from collections.abc import Mapping

from mnemoir.chats.recall_counts import recall_counts
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Origin
from mnemoir.search.maps import MemoryMap
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.door.says import says
from mnemoir.server.door.scopes import owner
from mnemoir.server.memories.list_query import ConditionsHere
from mnemoir.server.rest import ProjectHere, Routes, SiteHere

router = Routes(prefix="/api/memories", tags=["memories"])

_MOST_SHOWN = 200  # characters of a memory
_MOST_RECALLED = 2000


class MapPoint(JsonObject):
    """A memory at its place, within -1 and 1 in both directions; `group` is a place in the list of groups.

    `memory` is the beginning of its text. `recalls` counts the newest 2,000 answers that it fitted.
    """

    id: str
    memory: str
    created_at: str
    origin: Origin
    x: float
    y: float
    group: int
    recalls: int


class MapGroup(JsonObject):
    """A group as a circle, with its commonest words; `count` is how many points it has."""

    words: list[str]
    x: float
    y: float
    radius: float
    count: int


class MemoriesMap(JsonObject):
    """A map of `total` memories.

    `without_vector` of them have no place yet; `left_out` are those beyond 5,000, recalled least and oldest.
    """

    points: list[MapPoint]
    groups: list[MapGroup]
    total: int
    without_vector: int
    left_out: int


@router.get("/{user_id:path}/map", summary="One user's memories in groups, laid out in two dimensions")
@says("read", bucket="search")
async def map_of_user(
    site: SiteHere, project: ProjectHere, user_id: str, conditions: ConditionsHere
) -> Answer[MemoriesMap]:
    scope = owner(project, user_id, **conditions.part.ids)
    wanted = await conditions.filter_of(site, scope, "created", ascending=False)
    counts = await recall_counts(site.parts.chats.conversations, scope.owner)
    recalled = sorted(counts, key=lambda id: -counts[id])[:_MOST_RECALLED]
    site.count("list")
    return Answer(_map_json(await site.parts.memory.recall.map(scope, wanted, recalled), counts))


def _map_json(drawn: MemoryMap, counts: Mapping[MemoryId, int]) -> MemoriesMap:
    return {
        "points": [
            {
                "id": point.memory.id,
                "memory": point.memory.text[:_MOST_SHOWN],
                "created_at": point.memory.created_at,
                "origin": point.memory.origin,
                "x": round(point.x, 4),
                "y": round(point.y, 4),
                "group": point.group,
                "recalls": counts.get(point.memory.id, 0),
            }
            for point in drawn.points
        ],
        "groups": [
            {
                "words": list(group.words),
                "x": round(group.x, 4),
                "y": round(group.y, 4),
                "radius": round(group.radius, 4),
                "count": group.count,
            }
            for group in drawn.groups
        ],
        "total": drawn.total,
        "without_vector": drawn.without_vector,
        "left_out": drawn.left_out,
    }
