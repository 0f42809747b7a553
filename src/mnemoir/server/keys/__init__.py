"""`/api/keys`, `/api/tenants`, `/api/me` and `/api/audit`: who may call the server, and what they did."""

from mnemoir.server.keys import audit, routes, tenants

ROUTERS = (routes.router, tenants.router, audit.router)
