"""The one shape of errors, as generated clients know it. `errors.py` writes it."""

from typing import Literal

from pydantic import BaseModel


class Misfit(BaseModel):
    """One place of a request that does not fit: where, why, and which rule."""

    loc: list[str | int]
    msg: str
    type: str


class ErrorAnswer(BaseModel):
    """What went wrong and what to do next. `detail` repeats `error`, or lists each misfit of the request."""

    detail: str | list[Misfit]
    error: str
    code: str
    request_id: str


class OpenAIErrorBody(BaseModel):
    """An error as OpenAI's clients read it; `param` is the member at fault."""

    message: str
    type: Literal["invalid_request_error", "server_error", "upstream_error"]
    param: str | None
    code: str


class OpenAIErrorAnswer(BaseModel):
    """The same on the routes of OpenAI's protocols, whose clients read `error` as an object."""

    detail: str | list[Misfit]
    error: OpenAIErrorBody
    code: str
    request_id: str
