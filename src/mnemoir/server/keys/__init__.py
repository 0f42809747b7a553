"""`/api/keys` and `/api/tenants`: who may call the server."""

from mnemoir.server.keys import routes

ROUTERS = (routes.router,)
