"""What is asked of memories: added, found, listed, changed, exported and forgotten; and settings of their project."""

from mnemoir.server.memories import curation, lists, projects, routes, transfer

# static paths first: a user or a memory of any name follows them
ROUTERS = (projects.router, transfer.router, lists.router, curation.router, routes.router)
