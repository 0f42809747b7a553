"""Routes that connect a language model while the server runs."""

from mnemoir.server.model import routes

ROUTERS = (routes.router,)
