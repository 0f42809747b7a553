"""All routes of memories, in their order."""

from mnemoir.server.memories import (
    changes,
    curation,
    learned,
    lists,
    map,
    projects,
    proposals,
    recall,
    recalls,
    routes,
    sample,
    timeline,
    transfer,
)

# static paths first: the paths after them match any name of a user or a memory
ROUTERS = (
    projects.router,
    sample.router,
    recall.router,
    transfer.router,
    lists.router,
    map.router,
    changes.router,
    proposals.router,
    curation.router,
    learned.router,
    timeline.router,
    recalls.router,
    routes.router,
)
