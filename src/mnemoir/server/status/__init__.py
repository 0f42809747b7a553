"""Routes of operation: health, status, metrics."""

from mnemoir.server.status import operations, routes

ROUTERS = (operations.router, routes.router)
