"""Routes that connect a language model while the server runs, and save an embedding model for the next start."""

from mnemoir.server.model import embedding, routes

ROUTERS = (routes.router, embedding.router)
