"""What is asked of conversations: listed, begun, changed, searched, exported and forgotten; and of files in them."""

from mnemoir.server.conversations import (
    attachments,
    branches,
    files,
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
    nodes.router,
    window.router,
    attachments.router,
    branches.router,
    files.router,
)
