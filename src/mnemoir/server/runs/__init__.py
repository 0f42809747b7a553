"""What workflows did, and what they are doing."""

from mnemoir.server.runs import routes

ROUTERS = (routes.router,)
