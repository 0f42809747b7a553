"""`/api/subjects`, `/api/holds` and `/api/retention`: rights of a person, legal holds, and retention."""

from mnemoir.server.subjects import holds, retention, routes

ROUTERS = (routes.router, holds.router, retention.router)
