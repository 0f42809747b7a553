"""`/api/keys`, `/api/tenants` and `/api/me`: who may call the server."""

from mnemoir.server.keys import routes

ROUTERS = (routes.router,)
