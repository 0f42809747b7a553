"""What the REST routes share: the site, the project, a body checked against its model."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request
from pydantic import BaseModel, ValidationError

from mnemoir.core.errors import InvalidRequest
from mnemoir.core.scope import Scope as Owner
from mnemoir.core.scope import entity_name
from mnemoir.ports.memory_store import Project
from mnemoir.server.bodies import read_json
from mnemoir.server.errors import Invalid, Problem
from mnemoir.server.site import Site

Model = TypeVar("Model", bound=BaseModel)


async def _site(request: Request) -> Site:
    site = request.app.state.site
    assert isinstance(site, Site)
    return site


async def _project(request: Request, site: Annotated[Site, Depends(_site)]) -> Project:
    return site.project(request.scope)


SiteHere = Annotated[Site, Depends(_site)]
ProjectHere = Annotated[Project, Depends(_project)]


def body_of(model: type[Model]) -> Callable[[Request], Awaitable[Model]]:
    """A dependency that reads the body as `model`, whatever the Content-Type. Raises Invalid and InvalidRequest."""

    async def read(request: Request) -> Model:
        site = await _site(request)
        raw = await read_json(request.scope, request.receive, site.options.max_body_bytes)
        return checked(model, raw, "body")

    return read


def checked(model: type[Model], raw: object, *place: str | int) -> Model:
    """`raw` as `model`; raises Invalid with every misfit, placed below `place`."""
    try:
        return model.model_validate(raw)
    except ValidationError as exc:
        raise Invalid(problems_of(exc.errors(include_url=False, include_input=False), *place)) from None


def problems_of(errors: Any, *place: str | int) -> list[Problem]:
    """pydantic's misfits as clients know them, without what was sent."""
    return [
        {"loc": [*place, *error["loc"]], "msg": error["msg"].removeprefix("Value error, "), "type": error["type"]}
        for error in errors
    ]


def accepts(model: type[BaseModel]) -> dict[str, Any]:
    """The `openapi_extra` of a route that reads its body itself."""
    schema = {"$ref": f"#/components/schemas/{model.__name__}"}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def owner(project: Project, user: object, **narrowing: str | None) -> Owner:
    """The scope of one user. Raises InvalidRequest for a name that cannot be one."""
    return Owner(
        tenant=project.tenant,
        project=project.project,
        user=entity_name(user, "user_id"),
        agent=narrowing.get("agent_id"),
        app=narrowing.get("app_id"),
        conversation=narrowing.get("run_id"),
    )


def named_user(user: str | None, doing: str) -> str:
    """`user`, when given: a missing filter never means everybody's memories."""
    if user is None or not user.strip():
        raise InvalidRequest(
            f"user_id is missing: say whose memories to {doing}.", code="missing_user_id", field="user_id"
        )
    return user
