"""Routes of what a person brought in: which imports there are, learning from one, and undoing it."""

from mnemoir.server.imports.routes import router

ROUTERS = (router,)
