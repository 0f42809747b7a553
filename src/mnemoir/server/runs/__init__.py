"""Routes of workflow runs, finished and running."""

from mnemoir.server.runs import routes

ROUTERS = (routes.router,)
