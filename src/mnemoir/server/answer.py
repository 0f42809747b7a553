"""Answers of our own routes: JSON of a shape, written without further validation."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Generic, TypeVar

import orjson
from pydantic import ConfigDict, with_config
from starlette.responses import Response
from typing_extensions import TypedDict  # before Python 3.12 pydantic accepts no other

Json = dict[str, Any]
Shape = TypeVar("Shape")


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


def tolerant_json(body: object) -> bytes:
    """JSON of values that orjson refuses too: lone surrogates and huge numbers from imported files, deep nesting."""
    try:
        return orjson.dumps(body)
    except orjson.JSONEncodeError:
        return json.dumps(body, ensure_ascii=False, default=asdict).encode("utf-8", "replace")
