"""The HTTP server: routes, streams, limits, and the mapping of errors to statuses."""

from mnemoir.server.app import create_app
from mnemoir.server.door.options import ServerOptions, check_exposure
from mnemoir.server.run import run, serve

__all__ = ["ServerOptions", "check_exposure", "create_app", "run", "serve"]
