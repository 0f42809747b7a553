"""What is remembered of discussions, and making it anew."""

from mnemoir.server.discussions import routes

ROUTERS = (routes.router,)
