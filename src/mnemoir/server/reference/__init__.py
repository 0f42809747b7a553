"""The API's reference: `/openapi.json` for programs, `/docs` for people, with examples and requests to try."""

from mnemoir.server.reference import routes

ROUTERS = (routes.router,)
