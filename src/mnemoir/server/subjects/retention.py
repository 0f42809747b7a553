"""`POST /api/retention/run`: delete now what the settings keep no longer, or tell how much that is."""

from typing import Annotated

from fastapi import Query

from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.door.says import says
from mnemoir.server.rest import Routes, SiteHere

router = Routes(prefix="/api/retention", tags=["subjects"])


class RetentionRun(JsonObject):
    """How much was deleted, or with `dry_run` would be, by kind."""

    dry_run: bool
    counts: dict[str, int]


@router.post("/run", summary="Delete what is older than the settings keep it, as the server does every hour")
@says("server", act="retention.run", exact=True)
async def run(
    site: SiteHere, dry_run: Annotated[bool, Query(description="only count it")] = False
) -> Answer[RetentionRun]:
    counts = await site.parts.upkeep.pruning.run(dry_run=dry_run)
    return Answer({"dry_run": dry_run, "counts": dict(counts)})
