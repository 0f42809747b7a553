"""Shared parts of the REST routes: the project, validated queries and bodies, and answers.

A query or a body is validated against its model before a route runs; an answer is the JSON of the returned shape.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import Annotated, Any, Generic, TypeVar, Union, get_args, get_origin

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel
from starlette.responses import Response

from mnemoir.ports.memory_store import Project
from mnemoir.server.answer import Answer
from mnemoir.server.body import validated_body
from mnemoir.server.door.request import MOST_AT_ONCE, parse_own_json, read_body
from mnemoir.server.door.rest_routes import RestRoute
from mnemoir.server.door.says import PlainRoute, declare, takes_project
from mnemoir.server.door.scopes import project_of
from mnemoir.server.site import Site

Model = TypeVar("Model", bound=BaseModel)


class Routes(APIRouter):
    """Routes described by their return type: `-> Answer[Shape]` answers `Shape`; of several, the first."""

    def __init__(self, *, route_class: type[RestRoute] = RestRoute, **more: Any) -> None:
        super().__init__(route_class=route_class, **more)

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **more: Any) -> None:
        """Add a route with the shape of its answer, which FastAPI cannot read from a response class.

        Raises TypeError for an endpoint that does not say what its route is.
        """
        returned: Any = endpoint.__annotations__["return"]
        first = get_args(returned)[0] if get_origin(returned) is Union else returned
        if get_origin(first) is Answer:
            more["response_model"] = get_args(first)[0]
        super().add_api_route(path, endpoint, **more)
        route = self.routes[-1]
        assert isinstance(route, RestRoute)
        declare(route)

    def add_route(
        self,
        path: str,
        endpoint: Callable[[Request], Awaitable[Response] | Response],
        methods: Collection[str] | None = None,
        name: str | None = None,
        include_in_schema: bool = True,
    ) -> None:
        """Add a route whose endpoint reads the request itself. Raises TypeError as `add_api_route` does."""
        route = PlainRoute(path, endpoint, methods=methods, name=name, include_in_schema=include_in_schema)
        declare(route)
        self.routes.append(route)


async def _site(request: Request) -> Site:
    site = request.app.state.site
    assert isinstance(site, Site)
    return site


@takes_project("one")
async def _project(request: Request, site: Annotated[Site, Depends(_site)]) -> Project:
    return project_of(request.scope, site.options)


SiteHere = Annotated[Site, Depends(_site)]
ProjectHere = Annotated[Project, Depends(_project)]
Cursor = Annotated[str | None, Query(description="`next` of the page before")]


class BodyOf(Generic[Model]):
    """A dependency that reads the body as `model` with any Content-Type; the description finds it by this class.

    Where the body is not `required`, an empty body and null are read as an object without members. A large one is
    parsed and validated in a thread, because that takes long.
    """

    def __init__(self, model: type[Model], *, required: bool = True) -> None:
        self.model = model
        self.required = required

    @property
    def members(self) -> tuple[str, ...]:
        """The members that the body may have."""
        return tuple(self.model.model_fields)

    async def __call__(self, request: Request) -> Model:
        """Read and validate the body. Raises Invalid, InvalidRequest and TooLarge."""
        site = await _site(request)
        body = await read_body(request.scope, request.receive, site.options.max_body_bytes)
        return self._read(body) if len(body) <= MOST_AT_ONCE else await asyncio.to_thread(self._read, body)

    def _read(self, body: bytes) -> Model:
        raw = parse_own_json(body) if self.required or body.strip() else {}
        return validated_body(self.model, {} if raw is None and not self.required else raw, "body")
