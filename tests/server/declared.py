"""What routes say that they answer, held against what they answer."""

from functools import cache
from typing import Any, Union, cast, get_args, get_origin
from urllib.parse import unquote

from fastapi.routing import APIRoute
from pydantic import TypeAdapter

from mnemoir.providers.http import AsgiAnswer
from mnemoir.server.answer import Answer
from mnemoir.server.app import TABLE

_DEEPEST = 40  # workflows in each other; far more of them are more than pydantic reads
ROUTES = [route for route in TABLE.routes if isinstance(route, APIRoute)]


def check_shape(method: str, target: str, answer: AsgiAnswer) -> None:
    """Raise ValidationError for an answer in JSON that has not the shape its route declares. Errors have another."""
    kind = answer.headers.get("content-type", "")
    if answer.status >= 300 or not kind.startswith("application/json"):
        return
    if answer.body.count(b'"children"') > _DEEPEST:
        return
    route = _route_of(method, target.partition("?")[0])
    if route is not None and route.response_model is not None:
        _shape_of(route.unique_id).validate_json(answer.body, strict=True)


def _route_of(method: str, path: str) -> APIRoute | None:
    raw = path.rstrip("/") or "/"
    found = TABLE.find({"method": method, "path": unquote(raw), "raw_path": raw.encode()}).route
    return found if isinstance(found, APIRoute) else None


@cache
def _shape_of(id: str) -> TypeAdapter[Any]:
    """Any of the shapes that the route returns, of which the first is described."""
    route = next(route for route in ROUTES if route.unique_id == id)
    returned = route.endpoint.__annotations__["return"]
    arms = get_args(returned) if get_origin(returned) is cast(object, Union) else (returned,)
    shapes = [get_args(arm)[0] for arm in arms if get_origin(arm) is Answer]
    return TypeAdapter(cast(Any, Union[tuple(shapes)] if shapes else route.response_model))  # noqa: UP007  # of a number not known here
