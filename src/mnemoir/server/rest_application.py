"""The REST application: FastAPI around the routes that the front has found, their errors, and their description."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.responses import Response

from mnemoir import __version__
from mnemoir.core.errors import MnemoirError
from mnemoir.server.body import problems_of
from mnemoir.server.door.errors import Invalid, failure, internal_error
from mnemoir.server.door.table import Table, run_found
from mnemoir.server.openapi import describe
from mnemoir.server.site import Site

_described: dict[str, dict[str, Any]] = {}  # by root path: all servers of a process have the same routes


def rest_application(site: Site, table: Table) -> FastAPI:
    """The application that answers by the routes of the table, except direct ones."""
    app = FastAPI(
        title="Mnemoir",
        version=__version__,
        description="Memory for LLM applications.",
        openapi_url=None,
        redirect_slashes=False,
        # FastAPI reports to any OpenTelemetry exporter that is configured; Mnemoir reports to none
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    app.state.site = site
    app.router.default = run_found  # it has no routes of its own to search: the front has found one
    app.add_exception_handler(MnemoirError, _on_ours)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(Exception, _on_fault)

    def openapi() -> dict[str, Any]:
        root_path = site.options.root_path
        if root_path not in _described:
            _described[root_path] = describe(app, table.routes, root_path)
        return _described[root_path]

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's documented way to extend it
    return app


async def _on_ours(request: Request, exc: Exception) -> Response:
    assert isinstance(exc, MnemoirError)
    return failure(request.scope, exc)


async def _on_invalid(request: Request, exc: Exception) -> Response:
    assert isinstance(exc, RequestValidationError)
    return failure(request.scope, Invalid(problems_of(exc.errors())))


async def _on_fault(request: Request, exc: Exception) -> Response:
    # the layer around it, Record, writes the log line
    return failure(request.scope, internal_error())
