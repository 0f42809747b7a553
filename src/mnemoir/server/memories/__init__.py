"""Routes of memories: add, search, list, change, export and forget them; what was learned from a turn; and the
settings of their project.
"""

from mnemoir.server.memories import changes, curation, learned, lists, projects, proposals, routes, transfer

# static paths first: the paths after them match any name of a user or a memory
ROUTERS = (
    projects.router,
    transfer.router,
    lists.router,
    changes.router,
    proposals.router,
    curation.router,
    learned.router,
    routes.router,
)
