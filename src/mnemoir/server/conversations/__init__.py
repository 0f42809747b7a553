"""Routes of conversations: list, create, change, search, export and forget them; and routes of their files."""

from mnemoir.server.conversations import (
    attachments,
    branches,
    files,
    live_answers,
    messages,
    nodes,
    pruning,
    routes,
    search,
    transfer,
    window,
)

ROUTERS = (
    search.router,
    transfer.router,
    pruning.router,
    routes.router,
    messages.router,
    live_answers.router,
    nodes.router,
    window.router,
    attachments.router,
    branches.router,
    files.router,
)
