"""What the REST routes share: the site, the project, a body checked against its model, an answer of a shape."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Annotated, Any, Generic, TypeVar, Union, get_args, get_origin

import orjson
from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, ValidationError, with_config
from starlette.responses import Response
from typing_extensions import TypedDict  # before Python 3.12 pydantic takes no other

from mnemoir.ports.memory_store import Project
from mnemoir.server.access import project_of
from mnemoir.server.bodies import parse_json, read_body
from mnemoir.server.errors import Invalid, Misfit
from mnemoir.server.site import Site

Json = dict[str, Any]
Model = TypeVar("Model", bound=BaseModel)
Shape = TypeVar("Shape")


@with_config(ConfigDict(extra="forbid"))
class JsonObject(TypedDict):
    """A JSON object of the members that a subclass names, and no others."""


class Done(JsonObject):
    """What was done, in words."""

    success: bool
    message: str


class Answer(Response, Generic[Shape]):
    """JSON of a `Shape`: a TypedDict or a dataclass, as it is, without a second check."""

    media_type = "application/json"

    def __init__(self, body: Shape, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(tolerant_json(body), status, headers)


class Routes(APIRouter):
    """Routes that are described as what they return: `-> Answer[Shape]` answers `Shape`; of several, the first."""

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **more: Any) -> None:
        """Add one; of a class of responses FastAPI itself knows no shape."""
        returned: Any = endpoint.__annotations__["return"]
        first = get_args(returned)[0] if get_origin(returned) is Union else returned
        if get_origin(first) is Answer:
            more["response_model"] = get_args(first)[0]
        super().add_api_route(path, endpoint, **more)


def tolerant_json(body: object) -> bytes:
    """JSON of what orjson refuses too: half a character or a huge number of another program's file, deep nesting."""
    try:
        return orjson.dumps(body)
    except orjson.JSONEncodeError:
        return json.dumps(body, ensure_ascii=False, default=asdict).encode("utf-8", "replace")


async def _site(request: Request) -> Site:
    site = request.app.state.site
    assert isinstance(site, Site)
    return site


async def _project(request: Request, site: Annotated[Site, Depends(_site)]) -> Project:
    return project_of(request.scope, site.options)


SiteHere = Annotated[Site, Depends(_site)]
ProjectHere = Annotated[Project, Depends(_project)]


class BodyOf(Generic[Model]):
    """A dependency that reads the body as `model`, whatever the Content-Type; the description finds it by this class.

    Where the body is not `required`, an empty one is an object without members.
    """

    def __init__(self, model: type[Model], *, required: bool = True) -> None:
        self.model = model
        self.required = required

    async def __call__(self, request: Request) -> Model:
        """Raises Invalid, InvalidRequest and TooLarge."""
        return self._read(await self._sent(request))

    async def _sent(self, request: Request) -> bytes:
        site = await _site(request)
        return await read_body(request.scope, request.receive, site.options.max_body_bytes)

    def _read(self, body: bytes) -> Model:
        return checked(self.model, parse_json(body) if self.required or body.strip() else {}, "body")


class LargeBodyOf(BodyOf[Model]):
    """The same for bodies that are parsed and checked in a thread, since that takes long."""

    async def __call__(self, request: Request) -> Model:
        """Raises Invalid, InvalidRequest and TooLarge."""
        return await asyncio.to_thread(self._read, await self._sent(request))


def checked(model: type[Model], raw: object, *place: str | int) -> Model:
    """`raw` as `model`; raises Invalid with every misfit, placed below `place`."""
    try:
        return model.model_validate(raw)
    except ValidationError as exc:
        raise Invalid(problems_of(exc.errors(include_url=False, include_input=False), *place)) from None


def problems_of(errors: Any, *place: str | int) -> list[Misfit]:
    """pydantic's misfits as clients know them, without what was sent."""
    return [
        {"loc": [*place, *error["loc"]], "msg": error["msg"].removeprefix("Value error, "), "type": error["type"]}
        for error in errors
    ]
