"""Routes of operation: health, status, metrics."""

from mnemoir.server.status import jobs, operations, routes

ROUTERS = (operations.router, routes.router, jobs.router)
