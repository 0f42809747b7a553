"""How the server is: health, status, figures, documentation."""

from mnemoir.server.status import operations, routes

ROUTERS = (operations.router, routes.router)
