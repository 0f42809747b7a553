"""The memory routes of this server, for its own chats: the same bodies, checks and answers, without HTTP.

A chat has passed the guard already, and is logged and counted itself.
"""

from collections.abc import Mapping
from typing import Any

from mnemoir.core.errors import MnemoirError
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import Project
from mnemoir.server.errors import broken, status_of
from mnemoir.server.memories.bodies import AddBody, SearchBody
from mnemoir.server.memories.routes import added, found
from mnemoir.server.record import log_fault
from mnemoir.server.rest import checked
from mnemoir.server.site import Site


class LocalMemoryRoutes:
    """`POST` to `""` and `"/search"` below `/api/memories`."""

    def __init__(self, site: Site) -> None:
        self._site = site

    async def __call__(
        self, route: str, scope: Scope, body: Mapping[str, Any], key: str | None
    ) -> tuple[int, Mapping[str, Any]]:
        """The status and the JSON of the answer; `key` is the idempotency key. Raises nothing."""
        project = Project(tenant=scope.tenant, project=scope.project)
        try:
            if route == "/search":
                return 200, await found(self._site, project, checked(SearchBody, body, "body"))
            return 200, await added(self._site, project, checked(AddBody, body, "body"), key)
        except MnemoirError as exc:
            return _failure(exc)
        except Exception as exc:  # noqa: BLE001 - as on the routes: trouble with memory never fails a chat
            log_fault(exc, route=f"/api/memories{route}")
            return _failure(broken())


def _failure(exc: MnemoirError) -> tuple[int, Mapping[str, Any]]:
    return status_of(exc), {"error": exc.message, "code": exc.code}
