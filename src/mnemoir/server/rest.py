"""Shared parts of the routes: the site, and for REST the project, validated queries and bodies, and answers.

A query or a body is validated against its model before a route runs; an answer is the JSON of the returned shape.
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Generic, TypeVar, Union, get_args, get_origin

import orjson
from fastapi import APIRouter, Depends, Query, Request
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, with_config
from starlette.responses import Response
from typing_extensions import TypedDict  # before Python 3.12 pydantic accepts no other

from mnemoir.app.parts import Parts
from mnemoir.core.clock import from_epoch, from_local_text
from mnemoir.core.errors import InvalidRequest
from mnemoir.core.events import Usage
from mnemoir.core.scope import Scope as Owner
from mnemoir.core.scope import entity_name
from mnemoir.core.zones import zone_name
from mnemoir.ports.memory_store import Project
from mnemoir.server.door.access import Guard
from mnemoir.server.door.clients import Clients
from mnemoir.server.door.entry import Metrics
from mnemoir.server.door.errors import Invalid, Misfit
from mnemoir.server.door.options import ServerOptions
from mnemoir.server.door.request import MOST_AT_ONCE, parse_own_json, read_body
from mnemoir.server.door.says import PlainRoute, RestRoute, declare, takes_project
from mnemoir.server.door.scopes import bound_user, project_of
from mnemoir.server.door.shares import Shares
from mnemoir.server.door.table import Table
from mnemoir.server.door.turns import Turns
from mnemoir.server.door.under_way import Places, UnderWay
from mnemoir.server.live_answers import LiveAnswers

Json = dict[str, Any]
Model = TypeVar("Model", bound=BaseModel)
Shape = TypeVar("Shape")

_LONGEST_KEY = 255  # of idempotency
LARGEST_ID = 2**63 - 1  # of a message, and the largest number that a database holds
LONGEST_QUERY = 10_000  # characters; an embedding model gains nothing from further ones
_DIGITS = re.compile(r"\d+", re.ASCII)
_LARGEST = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """The shared state of one server. `metrics` is None when switched off."""

    parts: Parts
    options: ServerOptions
    guard: Guard
    metrics: Metrics | None
    places: Places
    feeds: Shares
    turns: Turns
    under_way: UnderWay
    live_answers: LiveAnswers
    clients: Clients
    table: Table
    settings_change: asyncio.Lock  # a project's settings are read, changed and written back

    def count(self, operation: str) -> None:
        """Count one completed operation of a memory route."""
        if self.metrics is not None:
            self.metrics.memory_operation(operation)

    async def zone_of_user(self, owner: Owner) -> str | None:
        """The time zone that the person says of themselves whose memories these are; None without one."""
        users = self.parts.access.users
        return await asyncio.to_thread(users.time_zone, owner.tenant, owner.user) if users.are_there else None

    def count_tokens(self, usage: Usage) -> None:
        """Count the tokens that a model took for an add."""
        if self.metrics is not None:
            self.metrics.usage("add", usage)


@with_config(ConfigDict(extra="forbid"))
class JsonObject(TypedDict):
    """A JSON object with exactly the members that a subclass names."""


class Done(JsonObject):
    """A completed operation, described by a message."""

    success: bool
    message: str


class Answer(Response, Generic[Shape]):
    """JSON of a `Shape`: a TypedDict or a dataclass, written without further validation."""

    media_type = "application/json"

    def __init__(self, body: Shape, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(tolerant_json(body), status, headers)


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


def tolerant_json(body: object) -> bytes:
    """JSON of values that orjson refuses too: lone surrogates and huge numbers from imported files, deep nesting."""
    try:
        return orjson.dumps(body)
    except orjson.JSONEncodeError:
        return json.dumps(body, ensure_ascii=False, default=asdict).encode("utf-8", "replace")


async def _site(request: Request) -> Site:
    site = request.app.state.site
    assert isinstance(site, Site)
    return site


@takes_project("one")
async def _project(request: Request, site: Annotated[Site, Depends(_site)]) -> Project:
    return project_of(request.scope, site.options)


SiteHere = Annotated[Site, Depends(_site)]
ProjectHere = Annotated[Project, Depends(_project)]


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


def validated_body(model: type[Model], raw: object, *place: str | int) -> Model:
    """`raw` validated as `model`; raises Invalid with every problem, each located below `place`.

    A missing `user_id` is that of the caller's key, if it is bound to a user.
    """
    bound = bound_user()
    if bound is not None and isinstance(raw, dict) and "user_id" in model.model_fields and raw.get("user_id") is None:
        raw = {**raw, "user_id": bound}
    try:
        return model.model_validate(raw)
    except ValidationError as exc:
        raise Invalid(problems_of(exc.errors(include_url=False, include_input=False), *place)) from None


def problems_of(errors: Any, *place: str | int) -> list[Misfit]:
    """pydantic's validation errors in the shape clients know, without the values that were sent."""
    return [
        {"loc": [*place, *error["loc"]], "msg": error["msg"].removeprefix("Value error, "), "type": error["type"]}
        for error in errors
    ]


class Body(BaseModel):
    """A request body: types are strict, unknown members ignored."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, hide_input_in_errors=True)


def name_of(field: str) -> BeforeValidator:
    """A validator for the name of a user, an agent, an application or a run."""

    def check(raw: object) -> str:
        try:
            return entity_name(raw, field)
        except InvalidRequest as exc:
            raise ValueError(exc.message) from None

    return BeforeValidator(check, json_schema_input_type=str | int)


def _instant(raw: object) -> datetime:
    """An instant, from seconds since 1970 or an ISO 8601 text; no offset means UTC."""
    return _local_instant(raw).astimezone(UTC)


def _local_instant(raw: object) -> datetime:
    """As `_instant`, at the offset it is written with."""
    seconds = isinstance(raw, (int, float)) and not isinstance(raw, bool)
    found = from_epoch(float(str(raw))) if seconds else from_local_text(raw)
    if found is None:
        raise ValueError("must be seconds since 1970 or an ISO 8601 time")
    return found


def not_blank(text: str) -> str:
    """`text` itself. Raises ValueError where it is only white space."""
    if not text.strip():
        raise ValueError("must not be blank")
    return text


def idempotency_key(key: str | None) -> str | None:
    """The header Idempotency-Key as it was sent. Raises InvalidRequest for a blank or an overlong one."""
    if key is not None and (not key.strip() or len(key) > _LONGEST_KEY):
        raise InvalidRequest(
            f"Idempotency-Key must have 1 to {_LONGEST_KEY} characters.", code="invalid_idempotency_key"
        )
    return key


def whole_number(default: int, most: int) -> Callable[[object], int]:
    """A reader of limits: missing gives `default`, 0 and anything larger `most`; only whole numbers are accepted."""

    def read(raw: object) -> int:
        if raw is None:
            return default
        number = _digits(raw)
        return most if number == 0 else min(number, most)

    return read


def _digits(raw: object) -> int:
    if isinstance(raw, str) and _DIGITS.fullmatch(raw.strip()):
        return _LARGEST if len(raw.strip()) > 9 else int(raw)
    if isinstance(raw, bool) or not isinstance(raw, int) or raw < 0:
        raise ValueError("must be a whole number, 0 or more")
    return min(raw, _LARGEST)


def strict_whole_number(default: int, most: int) -> Callable[[object], int]:
    """`whole_number` for JSON, where a number in quotes is a text."""
    read = whole_number(default, most)

    def refuse_text(raw: object) -> int:
        if isinstance(raw, str):
            raise ValueError("must be a whole number, 0 or more")
        return read(raw)

    return refuse_text


def offset_number(raw: object) -> int:
    """The number of entries to skip; missing means 0."""
    return 0 if raw is None else _digits(raw)


UserId = Annotated[str, name_of("user_id")]
OtherUser = Annotated[str | None, name_of("user_id")]  # may be left out, and is not null, as that would name nobody
Instant = Annotated[datetime, BeforeValidator(_instant, json_schema_input_type=float | str)]
LocalInstant = Annotated[datetime, BeforeValidator(_local_instant, json_schema_input_type=float | str)]
TimeZone = Annotated[str, Field(max_length=64), AfterValidator(zone_name)]
Question = Annotated[str, AfterValidator(not_blank), AfterValidator(lambda text: text[:LONGEST_QUERY])]
Cursor = Annotated[str | None, Query(description="`next` of the page before")]
