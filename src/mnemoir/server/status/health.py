"""What `/health` and `/ready` answer."""

from typing import Literal

from pydantic import BaseModel


class Health(BaseModel):
    """`llm` is of the server's own model: `missing` where the offline one stands in for it."""

    status: Literal["ok"]
    version: str
    storage: Literal["ok"]
    llm: Literal["configured", "missing"]


class Unhealthy(BaseModel):
    """The same where the storage does not work, with the members of an error."""

    status: Literal["unavailable"]
    version: str
    storage: Literal["unavailable"]
    llm: Literal["configured", "missing"]
    detail: str
    error: str
    code: str
    request_id: str


class VectorBacklog(BaseModel):
    """How many of all texts still wait for a vector of the embedding model in use."""

    model: str
    pending: int
    of: int


class Ready(Health):
    """Health, and the vectors."""

    vectors: VectorBacklog
