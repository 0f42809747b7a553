"""Whose memories the tools are about, and the server that has them.

A tool of a program of its own belongs to one person for its whole life; one of a server that many call belongs to the
caller of each request. No tool has a user or a project as an argument, so no text that a model reads can lead it to
another user's memories.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote, urlencode


class Route(NamedTuple):
    """A route of the server, by its method and path; `{}` in the path is the id of a memory."""

    method: str
    path: str


LIST = Route("GET", "/api/memories")
SEARCH = Route("POST", "/api/memories/search")
ADD = Route("POST", "/api/memories")
UPDATE = Route("PATCH", "/api/memories/{}")
DELETE = Route("DELETE", "/api/memories/{}")
SEARCH_CONVERSATIONS = Route("GET", "/api/conversations/search")


class Asks(Protocol):
    """A connection to the server. Raises MnemoirError."""

    async def ask(self, method: str, target: str, body: object = None) -> Any:
        """Send a request; the parsed JSON answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """The owner of the memories and its server; None for the project means the server's default project.

    `may` tells whether the server would let the caller ask a route; a program of its own learns it by asking. `page`
    is the address of the server's web pages, without a slash at its end; "" where it is not known.
    """

    server: Asks
    user: str
    project: str | None
    may: Callable[[Route], bool] = lambda _: True
    page: str = ""

    async def ask(
        self, route: Route, query: Mapping[str, str | int] | None = None, body: object = None, *, memory_id: str = ""
    ) -> Any:
        """The JSON of the route's answer. Raises MnemoirError."""
        path = route.path.format(quote(memory_id, safe=""))
        full = {**(query or {}), **({"project": self.project} if self.project else {})}
        return await self.server.ask(route.method, f"{path}?{urlencode(full)}" if full else path, body)

    async def memories_page(self, **query: str | int) -> Mapping[str, Any]:
        """A page of memories: `results`, and `total`, the number of all."""
        page: Mapping[str, Any] = await self.ask(LIST, {"user_id": self.user, **query})
        return page

    async def search(self, query: str, **more: int) -> Mapping[str, Any]:
        """What bears on a question: `results`, best first, and how many more had `no_room`, where there are any."""
        found: Mapping[str, Any] = await self.ask(SEARCH, body={"query": query, "user_id": self.user, **more})
        return found
