"""Routes of discussion memories: read, search, export, import, forget and rebuild them."""

from mnemoir.server.discussions import routes

ROUTERS = (routes.router,)
